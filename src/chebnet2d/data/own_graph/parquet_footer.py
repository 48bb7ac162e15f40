"""The sizes that a Parquet file declares, from its footer. pyarrow ends the process on some that are damaged, so it is not asked.

The footer is a structure in Thrift's compact protocol: a byte for the number and the type of a field, then its value.
"""

import struct
from pathlib import Path
from typing import Any, NamedTuple

_DEEPEST = 16
_TRUE, _FALSE, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _MAP, _STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 11, 12


class ColumnPart(NamedTuple):
    """Of one column in one group of rows. ``encodings``: by number, as the format has them."""

    path: tuple[str, ...]
    values: int
    uncompressed: int
    encodings: tuple[int, ...]


def column_parts(path: Path) -> list[ColumnPart]:
    """Raises a ``ValueError`` where the footer is none."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = struct.unpack("<I", end[:4])[0] if len(end) == 8 else 0
        if end[4:] != b"PAR1" or length > size - 12:
            raise ValueError("no footer of Parquet")
        file.seek(size - 8 - length)
        footer = _Reader(file.read(length)).structure()
    parts = []
    try:
        for group in footer.get(4, []):
            for column in group[1]:
                facts = column[3]
                names = tuple(name.decode() for name in facts[3])
                parts.append(ColumnPart(names, int(facts[5]), int(facts[6]), tuple(int(one) for one in facts[2])))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a footer without {error}") from None
    return parts


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.place + count > len(self.content):
            raise ValueError("a footer that is cut off")
        self.place += count
        return self.content[self.place - count : self.place]

    def natural(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 63:
                return value

    def integer(self) -> int:
        value = self.natural()
        return (value >> 1) ^ -(value & 1)

    def structure(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("a footer that is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while (head := self.take(1)[0]) != 0:
            number = number + (head >> 4) if head >> 4 else self.integer()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self.take(1)[0]
        if kind in _INTEGERS:
            return self.integer()
        if kind == _DOUBLE:
            return self.take(8)
        if kind == _BINARY:
            return self.take(self.natural())
        if kind in _LISTS:
            head = self.take(1)[0]
            count = head >> 4 if head >> 4 < 15 else self.natural()
            if count > len(self.content):
                raise ValueError("a footer with a list that is longer than itself")
            return [self.value(head & 15, depth + 1) for _ in range(count)]
        if kind == _STRUCT:
            return self.structure(depth + 1)
        raise ValueError(f"a footer with a value of the kind {kind}")
