"""Labels: words or integers, one class for each that occurs. A node without one has y = -1."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.columns import find_id, find_label, named, settle_header
from chebnet2d.data.own_graph.csv_table import MISSING, CsvTable, is_number
from chebnet2d.data.own_graph.node_ids import IdColumns, encode_once
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import Table

_NAN = ("nan", "NaN")
_MINUS_ONE = re.compile(r"-1(\.0*)?")
_INTEGER = re.compile(r"(0|-?[1-9][0-9]*)(\.0*)?")


@dataclass(frozen=True)
class Labels:
    """A column of labels. ``ids`` is ``None`` if its rows are the nodes 0, 1, ..."""

    table: Table
    column: int
    values: Any
    ids: IdColumns | None

    @property
    def label(self) -> str:
        return self.table.label

    @property
    def rows(self) -> int:
        return len(self.values)

    def classes(self, unlabelled: str | None) -> tuple[Any, list[str]]:
        """(class index of each row or -1, class names). Integers are sorted by value, words by code point."""
        encoded = _text(self.table, self.column, self.values).combine_chunks().dictionary_encode()
        codes = np.asarray(encoded.indices.fill_null(-1))
        words = pc.utf8_trim_whitespace(encoded.dictionary).to_pylist()
        absent = {"", unlabelled}
        if all(is_number(word) or word in (*absent, *_NAN) for word in words):
            absent |= set(_NAN)
        doubtful = next((k for k, word in enumerate(words) if word not in absent and _in_doubt(word)), None)
        if doubtful is not None and unlabelled is None:
            hint = (
                "It is a class for some and the lack of a label for others. Leave the field empty for a node without a label, or "
                "say by {} which word means none ('' if all of them are classes)."
            )
            row = int((codes == doubtful).argmax())
            raise self.table.bad_cell(row, self.column, "label", "a class", hint, ("unlabelled",))
        keys = self._keys(codes, words, absent)
        classes = sorted({key for key in keys if key is not None})
        index = {key: k for k, key in enumerate(classes)}
        # The last entry serves code -1, a null.
        table = np.array([-1 if key is None else index[key] for key in keys] + [-1], dtype=np.int64)
        return table[codes], [str(key) for key in classes]

    def _keys(self, codes: Any, words: list[str], absent: set[str | None]) -> list[Any]:
        """What a word stands for: an integer if all are (``2``, or ``2.0`` as pandas writes it), itself, or ``None``."""
        present = [word for word in words if word not in absent]
        if all(_INTEGER.fullmatch(word) for word in present):
            return [None if word in absent else int(word.split(".")[0]) for word in words]
        if all(is_number(word) for word in present):
            fraction = next((k for k, word in enumerate(words) if word not in absent and not float(word).is_integer()), None)
            if fraction is not None:
                row = int((codes == fraction).argmax())
                raise self.table.bad_cell(row, self.column, "label", "a class (a word or an integer)")
        return [None if word in absent else word for word in words]


def _in_doubt(word: str) -> bool:
    return word in MISSING or _MINUS_ONE.fullmatch(word) is not None


def read_labels(table: Table, options: ReadOptions, known: IdColumns | None = None, expected_rows: int | None = None) -> Labels:
    """``known`` ids and ``expected_rows`` tell a header from a first row where the names do not."""
    node_id, label = options.node_id, options.label
    settle_header(table, options.header, (node_id, label), lambda csv: _guess_header(csv, known, expected_rows))
    ids, labels = _columns(table, node_id, label)
    wanted = [column for column in (ids, labels) if column is not None]
    *id_values, values = table.read(wanted, text=wanted)
    return Labels(table, labels, values, None if ids is None else encode_once(table, ids, id_values[0]))


def _columns(table: Table, node_id: str | None, label: str | None) -> tuple[int | None, int]:
    ids = named(table, "node_id", node_id) if node_id is not None else find_id(table) if table.has_header else None
    labels = named(table, "label", label) if label is not None else find_label(table) if table.has_header else None
    if table.width == 1 and ids is None:
        return None, 0
    if table.width == 2:  # the other column has the other role, and the id comes first where no name says so
        if ids is None:
            ids = 0 if labels is None else 1 - labels
        if labels is None:
            labels = 1 - ids
    if ids is None and labels is not None:
        return None, labels
    if ids is None or labels is None or ids == labels:
        hint = "Name them by {} and {}."
        got = ", ".join(repr(name) for name in table.names[:8])
        rule = "an id column and a label column"
        raise InputError(table.label, "a labels table", rule, got=got, hint=hint, mentions=("node_id", "label"), verb="have")
    return ids, labels


def _guess_header(table: CsvTable, known: IdColumns | None, expected_rows: int | None) -> bool:
    first, second = table.head
    if find_label(table) is not None or (table.width > 1 and find_id(table) is not None):
        return True
    if any(is_number(field) for field in first):
        return False
    if any(is_number(field) for field in second):
        return True
    if table.width == 1:
        table.use_header(False)
        return expected_rows is not None and len(table.read((0,), text=(0,))[0]) == expected_rows + 1
    mentioned = known is not None and pc.any(pc.is_in(pa.array([f.strip() for f in first]), known.values.cast("string"))).as_py()
    return not mentioned


def _text(table: Table, column: int, array: Any) -> Any:
    kind = array.type
    if pa.types.is_boolean(kind):
        return pc.if_else(array, "True", "False")
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(array), pa.scalar(None, kind), array).cast(pa.string())
    if pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_null(kind):
        return array.cast(pa.string())
    raise InputError(table.label, table.called(column, "label"), "a column of integers or text", got=f"type {kind}")
