"""Parquet: columns have names and types already. Rows are counted from 0, as in every tool that opens such a file.

A page of repeated values takes a few bytes however many there are: the number of values that the file declares is checked first,
and text is read as numbers of a dictionary, whose size is known before it is written out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from chebnet2d._checks import InputError
from chebnet2d.data.broken_files import BROKEN
from chebnet2d.data.own_graph.parquet_footer import column_parts
from chebnet2d.data.own_graph.table import Table, first_line, is_numeric
from chebnet2d.data.reading_limit import check_size

_EACH = 24  # bytes of a number: in the table, as a 64-bit number, and in the features
_CONTINUED = {6, 7}  # DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY: texts by their lengths, or by what follows a shared beginning
_ROWS = 1 << 19  # rows at a time of a file that is read in parts
_BATCH = 1000  # rows at a time of texts that share their beginnings, whose length nothing declares


class ParquetTable(Table):
    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = str(path)
        try:
            schema = pa.parquet.ParquetFile(path).schema_arrow
            self.names = [str(name) for name in schema.names]
            self._parts = column_parts(path)
            self._continued = {part.path[0] for part in self._parts if _CONTINUED & set(part.encodings)}
            texts = [name for name, kind in zip(self.names, schema.types, strict=True) if _is_text(kind)]
            self._file = pa.parquet.ParquetFile(path, read_dictionary=[name for name in texts if name not in self._continued])
        except BROKEN as error:
            raise InputError(self.label, "the file", "Parquet", reason=first_line(error)) from None
        if len(set(self.names)) < len(self.names):
            raise InputError(self.label, "column names", "", got=", ".join(self.names), verb="differ")

    def read(self, columns: Sequence[int], text: Sequence[int] = (), numbers: Sequence[int] = ()) -> list[Any]:
        arrays = self._columns([self.names[i] for i in columns])
        return [self._number(array, i) if i in numbers else array for i, array in zip(columns, arrays, strict=True)]

    def batches(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        names = [self.names[i] for i in columns]
        try:
            for batch in self._file.iter_batches(_BATCH if self._continued & set(names) else _ROWS, columns=names):
                batch.validate(full=True)
                arrays = [plain_array(self.label, name, pa.chunked_array([batch.column(name)])) for name in names]
                yield [array.combine_chunks() for array in arrays]
        except InputError:
            raise
        except BROKEN as error:
            raise InputError(self.label, "the file", "a Parquet table", reason=first_line(error)) from None

    def _columns(self, names: list[str]) -> list[Any]:
        try:
            held = (max(0, part.values) * _EACH + max(0, part.uncompressed) for part in self._parts if part.path[0] in names)
            check_size(self.label, "its columns", sum(held))
            if self._continued & set(names):
                batches, total = [], 0
                for batch in self._file.iter_batches(_BATCH, columns=names):
                    batches.append(batch)
                    total += batch.nbytes
                    check_size(self.label, "its texts", 2 * total)
                table = pa.Table.from_batches(batches, schema=batches[0].schema if batches else None)
            else:
                table = self._file.read(columns=names)
            table.validate(full=True)  # offsets and indices are the file's word
            return [plain_array(self.label, name, table[name]) for name in names]
        except InputError:
            raise
        except BROKEN as error:
            raise InputError(self.label, "the file", "a Parquet table", reason=first_line(error)) from None

    def _number(self, array: Any, column: int) -> Any:
        if not is_numeric(array.type):
            raise InputError(self.label, self.called(column, "weight"), "a column of numbers", got=f"type {array.type}")
        return array.cast(pa.float64())

    def where(self, row: int) -> str:
        return f"{self.label}, row {row} (from 0)"

    def cell(self, row: int, column: int) -> Any:
        return self._columns([self.names[column]])[0][row].as_py()


def _is_text(kind: Any) -> bool:
    of = pa.types
    return bool(of.is_string(kind) or of.is_large_string(kind) or of.is_binary(kind) or of.is_large_binary(kind))


def plain_array(label: str, name: str, array: Any) -> Any:
    """Dictionary columns (pandas categories) as their values; the wide and the narrow string type as one."""
    if pa.types.is_dictionary(array.type):
        if _is_text(array.type.value_type):
            check_size(label, f"the texts of {name!r}", 2 * sum(_written_out(chunk) for chunk in array.chunks))
        array = array.cast(array.type.value_type)
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return array


def _written_out(chunk: Any) -> int:
    """Bytes of the texts that the numbers of a dictionary stand for."""
    lengths = np.append(np.asarray(pc.binary_length(chunk.dictionary).fill_null(0), dtype=np.int64), 0)
    return int(lengths[np.asarray(chunk.indices.fill_null(-1))].sum()) + 8 * len(chunk)
