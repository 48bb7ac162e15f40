"""A table of the user's, from whatever file: named columns, and the place of every row for error messages."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from chebnet2d._checks import InputError


def shown(value: Any) -> str:
    """A value as it stands in the file, short enough for a sentence."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def is_numeric(kind: Any) -> bool:
    """Whether a column of this type holds numbers, truth values or nothing at all."""
    of = pa.types
    return bool(of.is_integer(kind) or of.is_floating(kind) or of.is_decimal(kind) or of.is_boolean(kind) or of.is_null(kind))


def first_line(error: Exception) -> str:
    """Another library's words, without the pages that may follow."""
    return (str(error).splitlines() or [type(error).__name__])[0][:150]


class Table:
    """Columns by position. ``text`` columns (ids, labels) are read as they stand; other columns get the type they show."""

    label: str
    names: list[str]
    has_header: bool = True

    @property
    def width(self) -> int:
        return len(self.names)

    def read(self, columns: Sequence[int], text: Sequence[int] = (), numbers: Sequence[int] = ()) -> list[Any]:
        """The named positions as pyarrow chunked arrays; those in ``text`` as strings or integers, ``numbers`` as float64."""
        raise NotImplementedError

    def batches(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        """The same, as ``text``, in parts of some rows: arrays of each column."""
        raise NotImplementedError

    def where(self, row: int) -> str:
        """The place of a row in the user's terms, such as ``edges.csv, line 17``."""
        raise NotImplementedError

    def cell(self, row: int, column: int) -> Any:
        """The value as the user wrote it."""
        raise NotImplementedError

    def called(self, column: int, role: str) -> str:
        """The name of a column in a sentence: its role where that says enough, and its own name where it differs."""
        if not self.has_header or self.names[column].strip().lower() == role:
            return role
        return f"{role} (column {self.names[column]!r})"

    def bad_cell(self, row: int, column: int, role: str, rule: str, hint: str = "", mentions: Sequence[str] = ()) -> InputError:
        value = shown(self.cell(row, column))
        return InputError(self.where(row), self.called(column, role), rule, got=value, hint=hint, mentions=mentions)


class MemoryTable(Table):
    """Columns that are in memory already. ``place`` says where a row came from."""

    def __init__(self, label: str, names: list[str], columns: list[Any], place: Callable[[int], str]) -> None:
        self.label = label
        self.names = names
        self._columns = columns
        self._place = place

    def read(self, columns: Sequence[int], text: Sequence[int] = (), numbers: Sequence[int] = ()) -> list[Any]:
        return [self._as_number(i) if i in numbers else self._columns[i] for i in columns]

    def _as_number(self, column: int) -> Any:
        array = self._columns[column]
        try:
            return array.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            values = array.to_pylist()
            row = next(i for i, value in enumerate(values) if not _is_number(value))
            raise self.bad_cell(row, column, "weight", "a finite number >= 0") from None

    def where(self, row: int) -> str:
        return f"{self.label}, {self._place(row)}"

    def cell(self, row: int, column: int) -> Any:
        return self._columns[column][row].as_py()


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def open_table(path: Path) -> Table:
    """A table file by its suffix. Of a CSV file it is not yet decided whether it has a header (see ``CsvTable``)."""
    from chebnet2d.data.own_graph.csv_table import CsvTable
    from chebnet2d.data.own_graph.parquet_table import ParquetTable

    if path.suffix.lower() in (".parquet", ".pq"):
        return ParquetTable(path)
    return CsvTable(path)
