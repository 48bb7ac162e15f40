"""Parquet: columns have names and types already. Rows are counted from 0, as in every tool that opens such a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.table import Table, first_line, is_numeric


class ParquetTable(Table):
    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = str(path)
        try:
            self._file = pa.parquet.ParquetFile(path)
            self.names = [str(name) for name in self._file.schema_arrow.names]
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(self.label, "the file", "Parquet", reason=first_line(error)) from None
        if len(set(self.names)) < len(self.names):
            raise InputError(self.label, "column names", "", got=", ".join(self.names), verb="differ")

    def read(self, columns: Sequence[int], text: Sequence[int] = (), numbers: Sequence[int] = ()) -> list[Any]:
        try:
            table = self._file.read(columns=[self.names[i] for i in columns])
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(self.label, "the file", "a Parquet table", reason=first_line(error)) from None
        arrays = [_plain(table[self.names[i]]) for i in columns]
        return [self._number(array, i) if i in numbers else array for i, array in zip(columns, arrays, strict=True)]

    def _number(self, array: Any, column: int) -> Any:
        if not is_numeric(array.type):
            raise InputError(self.label, self.called(column, "weight"), "a column of numbers", got=f"type {array.type}")
        return array.cast(pa.float64())

    def where(self, row: int) -> str:
        return f"{self.label}, row {row} (from 0)"

    def cell(self, row: int, column: int) -> Any:
        return self._file.read(columns=[self.names[column]])[0][row].as_py()


def _plain(array: Any) -> Any:
    """Dictionary columns (pandas categories) as their values; the wide and the narrow string type as one."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return array
