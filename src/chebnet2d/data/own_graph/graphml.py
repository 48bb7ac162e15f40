"""GraphML by Python's own XML parser, one element at a time, with line numbers. A document type is refused."""

import re
import xml.parsers.expat
from pathlib import Path
from typing import Any

import pyarrow as pa

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.table import MemoryTable, shown
from chebnet2d.data.reading_limit import check_size

_NUMBERS = ("int", "long", "float", "double")
_DECLARATION = 1024  # bytes in which the declaration of an encoding is looked for
_ENCODING = re.compile(
    rb"utf-?(8|16(le|be)?)|(us-)?ascii|iso[-_]?8859-\d+|latin-?\d+|windows-125\d|cp125\d|koi8-[ru]", re.IGNORECASE
)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


class _Items:
    """Nodes or edges with their attributes, column by column."""

    def __init__(self) -> None:
        self.fixed: dict[str, list[str]] = {}
        self.lines: list[int] = []
        self.attributes: dict[str, dict[int, Any]] = {}

    def add(self, line: int, **fixed: str) -> None:
        self.lines.append(line)
        for name, value in fixed.items():
            self.fixed.setdefault(name, []).append(value)

    def table(self, label: str, fixed: tuple[str, ...], keys: "dict[str, _Key]", owner: str) -> MemoryTable:
        """``keys``: the attributes that are declared; ``owner``: "node" or "edge"."""
        # Attributes in the order of their first use, since declarations have no fixed order; then those with only a default.
        defaults = [key for key in keys.values() if key.owner == owner and key.default is not None]
        check_size(
            label,
            f"the attributes of {len(self.lines)} {owner}s",
            40.0 * len(self.lines) * (len(self.attributes) + len(defaults)),
        )
        names, columns = list(fixed), [pa.chunked_array([pa.array(self.fixed.get(name, []), pa.string())]) for name in fixed]
        for key in dict.fromkeys([*(keys[used] for used in self.attributes), *defaults]):
            found = self.attributes.get(key.id, {})
            values = [found.get(i, key.default) for i in range(len(self.lines))]
            names.append(key.name)
            columns.append(pa.chunked_array([pa.array(values, key.arrow_type)]))
        return MemoryTable(label, names, columns, lambda row: f"line {self.lines[row]}")


class _Key:
    def __init__(self, attributes: dict[str, str]) -> None:
        self.id = attributes.get("id", "")
        self.name = attributes.get("attr.name", self.id)
        self.owner = attributes.get("for", "all")
        self.kind = attributes.get("attr.type", "string").lower()
        self.default: Any = None

    @property
    def arrow_type(self) -> Any:
        return pa.float64() if self.kind in _NUMBERS else pa.bool_() if self.kind == "boolean" else pa.string()


class _Reader:
    def __init__(self, path: Path) -> None:
        self.label = str(path)
        self.nodes, self.edges = _Items(), _Items()
        self.keys: dict[str, _Key] = {}
        self.graphs = 0
        self._open: list[str] = []  # the elements that are open
        self._inside: list[_Items] = []  # the nodes and edges that are open
        self._key: _Key | None = None
        self._text: list[str] | None = None
        self._parser = xml.parsers.expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        try:
            with path.open("rb") as file:
                self._check_encoding(file.read(_DECLARATION))
                file.seek(0)
                self._parser.ParseFile(file)
        except xml.parsers.expat.ExpatError as error:
            raise InputError(f"{self.label}, line {error.lineno}", "the file", "XML", reason=str(error)) from None
        except (LookupError, ValueError) as error:  # of a codec
            if isinstance(error, InputError):
                raise
            raise InputError(f"{self.label}, line 1", "the file", "in a known encoding", reason=str(error)) from None
        if not self.graphs:
            raise InputError(self.label, "the file", "a GraphML graph", got="none", verb="hold")

    def _check_encoding(self, start: bytes) -> None:
        """The parser asks Python for an encoding that it does not know itself, and some of those are no encodings of text."""
        declared = re.search(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)", start.replace(b"\0", b""))
        if declared is not None and _ENCODING.fullmatch(declared[1]) is None:
            rule = "in UTF-8, UTF-16 or an encoding of one byte"
            raise InputError(f"{self.label}, line 1", "the file", rule, got=shown(declared[1].decode(errors="replace")))

    def _fail(self, what: str, rule: str, got: str, **details: str) -> InputError:
        return InputError(f"{self.label}, line {self._parser.CurrentLineNumber}", what, rule, got=got, **details)

    def _doctype(self, *_: object) -> None:
        raise self._fail("GraphML", "no document type", "one", hint="Entities could make a small file endless.", verb="have")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rsplit(" ", 1)[-1]
        line = self._parser.CurrentLineNumber
        if not self._open and tag != "graphml":
            raise self._fail("the first element", "graphml", repr(tag))
        self._open.append(tag)
        if tag == "key":
            self._key = _Key(attributes)
            self.keys[self._key.id] = self._key
        elif tag == "graph":
            self.graphs += "node" not in self._open
            if self.graphs > 1:
                raise self._fail("the file", "one graph", "another", verb="hold")
        elif tag == "node":
            self.nodes.add(line, id=self._need(attributes, "node", "id"))
            self._inside.append(self.nodes)
        elif tag == "edge":
            self.edges.add(line, **{end: self._need(attributes, "edge", end) for end in ("source", "target")})
            self._inside.append(self.edges)
        elif tag == "hyperedge":
            raise self._fail("an edge", "two ends", "a hyperedge", verb="have")
        elif tag == "data" and self._inside:
            key = attributes.get("key", "")
            if key not in self.keys:
                raise self._fail("data", "a key that is declared", shown(key), verb="have")
            self._key, self._text = self.keys[key], []
        elif tag == "default" and self._key is not None:
            self._text = []

    def _need(self, attributes: dict[str, str], tag: str, name: str) -> str:
        if not attributes.get(name, "").strip():
            raise self._fail(tag, f"the attribute {name}", "none", verb="have")
        return attributes[name]

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, _: str) -> None:
        tag = self._open.pop()
        if tag in ("node", "edge") and self._inside:
            self._inside.pop()
        elif tag == "key":
            self._key = None
        elif tag in ("data", "default") and self._text is not None and self._key is not None:
            value = self._value(self._key, "".join(self._text).strip())
            self._text = None
            if tag == "default":
                self._key.default = value
            else:
                items = self._inside[-1]
                items.attributes.setdefault(self._key.id, {})[len(items.lines) - 1] = value
                self._key = None

    def _value(self, key: _Key, text: str) -> Any:
        if not text:
            return None
        if key.kind in _NUMBERS:
            try:
                return float(text)
            except ValueError:
                raise self._fail(key.name, f"a number ({key.kind})", shown(text)) from None
        if key.kind == "boolean":
            if text.lower() not in _TRUTH:
                raise self._fail(key.name, "true or false", shown(text))
            return _TRUTH[text.lower()]
        return text


def read_graphml(path: Path) -> tuple[MemoryTable, MemoryTable]:
    """(edges: source, target and attributes; nodes: id and attributes)."""
    reader = _Reader(path)
    edges = reader.edges.table(reader.label, ("source", "target"), reader.keys, "edge")
    return edges, reader.nodes.table(reader.label, ("id",), reader.keys, "node")
