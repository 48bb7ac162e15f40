"""CSV and TSV through pyarrow. A line number costs a second pass, which runs only when there is an error to report."""

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.table import Table, first_line, is_numeric, shown

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
NUMBER = r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*"
_NUMBER = re.compile(NUMBER)
_BLOCK = 1 << 24  # bytes of a file that is read in parts


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


class CsvTable(Table):
    """``head`` holds the first two records (the second may be empty). The caller looks at them and says ``use_header``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = str(path)
        self.delimiter = _delimiter(path)
        begin = list(itertools.islice(self._records(skip_empty=True), 2))
        if not begin:
            raise InputError(self.label, "the file", "at least one line", got="an empty one", verb="hold")
        self.head = [begin[0].fields, begin[1].fields if len(begin) > 1 else []]
        self._header_end = begin[0].last
        self.use_header(True)

    def use_header(self, header: bool) -> None:
        self.has_header = header
        first = self.head[0]
        self.names = [name.strip() for name in first] if header else [str(i) for i in range(len(first))]

    def read(self, columns: Sequence[int], text: Sequence[int] = (), numbers: Sequence[int] = ()) -> list[Any]:
        types: dict[int, Any] = {**dict.fromkeys(text, pa.string()), **dict.fromkeys(numbers, pa.float64())}
        table = self._arrow(columns, types)
        # Dates and times are words here: a model has no use for their type, and a message should show what was written.
        kinds = {i: table[str(i)].type for i in columns}
        odd = [i for i, kind in kinds.items() if not is_numeric(kind) and not pa.types.is_string(kind)]
        if odd:
            table = self._arrow(columns, {**types, **dict.fromkeys(odd, pa.string())})
        return [table[str(i)] for i in columns]

    def batches(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        types = dict.fromkeys(columns, pa.string())
        try:
            for batch in pa.csv.open_csv(self.path, **self._options(columns, types, block=_BLOCK)):
                yield [batch.column(str(i)) for i in columns]
        except pa.ArrowInvalid as error:
            if "Empty CSV file" not in str(error):
                raise self._explain(error, types) from None

    def _arrow(self, columns: Sequence[int], types: dict[int, Any]) -> Any:
        try:
            return pa.csv.read_csv(self.path, **self._options(columns, types))
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                return pa.table({str(i): pa.array([], types.get(i, pa.null())) for i in columns})
            raise self._explain(error, types) from None

    def _options(self, columns: Sequence[int], types: dict[int, Any], block: int | None = None) -> dict[str, Any]:
        # Positions serve as names, because the names in the file may occur twice.
        names = [str(i) for i in range(self.width)]
        skip = self._header_end if self.has_header else 0
        return {
            "read_options": pa.csv.ReadOptions(column_names=names, skip_rows=skip, block_size=block, use_threads=block is None),
            "parse_options": pa.csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=self.width > 1
            ),
            "convert_options": pa.csv.ConvertOptions(
                column_types={str(i): kind for i, kind in types.items()},
                include_columns=[str(i) for i in columns],
                null_values=list(MISSING),
                strings_can_be_null=False,
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
            ),
        }

    def _explain(self, error: Exception, types: dict[int, Any]) -> InputError:
        """Why pyarrow gave up, with the line: a wrong number of columns, a word for a number, or bytes that are no text."""
        if "utf8" in str(error).lower():
            for number, line in enumerate(_lines(self.path), start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as bad:
                    got = shown(line[max(0, bad.start - 10) : bad.start + 10])
                    return InputError(f"{self.label}, line {number}", "text", "UTF-8", got=got, hint="Save the file as UTF-8.")
        numbers = [i for i, kind in types.items() if kind == pa.float64()]
        for record in self._rows():
            place, fields = f"{self.label}, line {record.first}", record.fields
            if len(fields) != self.width:
                got = f"{len(fields)}: {shown(self.delimiter.join(fields))}"
                return InputError(place, "a line", f"{self.width} columns as the first one", got=got, verb="have")
            for i in numbers:
                if fields[i].strip() not in MISSING and not is_number(fields[i]):
                    return InputError(place, self.called(i, "weight"), "a finite number >= 0", got=shown(fields[i]))
        return InputError(self.label, "the file", "CSV", reason=first_line(error))

    def where(self, row: int) -> str:
        return f"{self.label}, line {self._row(row).first}"

    def cell(self, row: int, column: int) -> str:
        return self._row(row).fields[column]

    def _row(self, row: int) -> "_Record":
        return next(itertools.islice(self._rows(), row, None))

    def _rows(self) -> "Iterator[_Record]":
        """Records without the header, as pyarrow counts them."""
        records = self._records(skip_empty=self.width > 1)
        if self.has_header:
            records = itertools.dropwhile(lambda record: record.first <= self._header_end, records)
        return records

    def _records(self, skip_empty: bool) -> "Iterator[_Record]":
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            first = 1
            try:
                for fields in reader:
                    if fields or not skip_empty:
                        yield _Record(first, reader.line_num, fields or [""])
                    first = reader.line_num + 1
            except csv.Error as error:
                raise InputError(f"{self.label}, line {reader.line_num}", "the line", "valid CSV", reason=str(error)) from None


class _Record(NamedTuple):
    """Fields, and the lines of the file on which they begin and end."""

    first: int
    last: int
    fields: list[str]


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _delimiter(path: Path) -> str:
    """Tab for .tsv; otherwise the comma, or what the first line has instead of one (semicolon, tab)."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    first = next((line for line in _lines(path) if line.strip()), b"").decode("utf-8", errors="replace")
    return "," if "," in first or not {";", "\t"} & set(first) else max(";\t", key=first.count)
