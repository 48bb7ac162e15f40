"""CSV and TSV through pyarrow. A line number costs a second pass, which runs only when there is an error to report."""

import csv
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.table import Table, first_line, shown

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*\Z")


def is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


class CsvTable(Table):
    """``head`` holds the first two records. The caller looks at them and sets ``has_header`` before it reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = str(path)
        self.delimiter = _delimiter(path)
        self.head: list[list[str]] = []
        self._first_lines: list[int] = []
        for line, fields in itertools.islice(self._records(skip_empty=True), 2):
            self.head.append(fields)
            self._first_lines.append(line)
        if not self.head:
            raise InputError(self.label, "the file", "at least one line", got="an empty one", verb="hold")
        self._header_end = self._end_of_first_record()
        self.use_header(True)

    def use_header(self, header: bool) -> None:
        self.has_header = header
        first = self.head[0]
        self.names = [name.strip() for name in first] if header else [str(i) for i in range(len(first))]

    # ---- reading ------------------------------------------------------------------------------------------
    def read(self, columns: Sequence[int], text: Sequence[int] = (), numbers: Sequence[int] = ()) -> list[Any]:
        types: dict[int, Any] = {**dict.fromkeys(text, pa.string()), **dict.fromkeys(numbers, pa.float64())}
        table = self._arrow(columns, types)
        # Dates and times are words here: a model has no use for their type, and a message should show what was written.
        odd = [i for i in columns if not _is_plain(table[str(i)].type)]
        if odd:
            table = self._arrow(columns, {**types, **dict.fromkeys(odd, pa.string())})
        return [table[str(i)] for i in columns]

    def _arrow(self, columns: Sequence[int], types: dict[int, Any]) -> Any:
        # Positions serve as names, because the names in the file may occur twice.
        names = [str(i) for i in range(self.width)]
        try:
            return pa.csv.read_csv(
                self.path,
                read_options=pa.csv.ReadOptions(column_names=names, skip_rows=self._header_end if self.has_header else 0),
                parse_options=pa.csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=self.width > 1
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types={str(i): kind for i, kind in types.items()},
                    include_columns=[str(i) for i in columns],
                    null_values=list(MISSING),
                    strings_can_be_null=False,
                    true_values=["true", "True", "TRUE"],
                    false_values=["false", "False", "FALSE"],
                ),
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                return pa.table({str(i): pa.array([], types.get(i, pa.null())) for i in columns})
            raise self._explain(error, types) from None

    # ---- the second pass ----------------------------------------------------------------------------------
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
        accepted: set[str] = set()  # the same numbers occur many times
        for line_number, fields in self._rows():
            if len(fields) != self.width:
                got = f"{len(fields)}: {shown(self.delimiter.join(fields))}"
                rule = f"{self.width} columns as the first one"
                return InputError(f"{self.label}, line {line_number}", "a line", rule, got=got, verb="have")
            for i in numbers:
                text = fields[i]
                if text in accepted:
                    continue
                if text.strip() not in MISSING and not is_number(text):
                    return InputError(
                        f"{self.label}, line {line_number}", self.called(i, "weight"), "a finite number >= 0", got=shown(text)
                    )
                if len(accepted) < 100_000:
                    accepted.add(text)
        return InputError(self.label, "the file", "CSV", reason=first_line(error))

    def where(self, row: int) -> str:
        return f"{self.label}, line {self._row(row)[0]}"

    def cell(self, row: int, column: int) -> str:
        return self._row(row)[1][column]

    def _row(self, row: int) -> tuple[int, list[str]]:
        return next(itertools.islice(self._rows(), row, None))

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Records without the header, numbered by the line they start on, as pyarrow counts them."""
        records = self._records(skip_empty=self.width > 1)
        if self.has_header:
            records = itertools.dropwhile(lambda record: record[0] <= self._header_end, records)
        return records

    def _records(self, skip_empty: bool) -> Iterator[tuple[int, list[str]]]:
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            start = 1
            for fields in _unbroken(reader, self.label):
                if fields or not skip_empty:
                    yield start, fields or [""]
                start = reader.line_num + 1

    def _end_of_first_record(self) -> int:
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            next(fields for fields in reader if fields)
            return reader.line_num


def _unbroken(reader: Any, label: str) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise InputError(f"{label}, line {reader.line_num}", "the line", "valid CSV", reason=str(error)) from None


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _delimiter(path: Path) -> str:
    """Tab for .tsv; otherwise the comma, or what the first line has instead of one (semicolon, tab)."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    first = next((line for line in _lines(path) if line.strip()), b"").decode("utf-8", errors="replace")
    count: Callable[[str], int] = first.count
    return "," if count(",") else max(";\t", key=count) if count(";") or count("\t") else ","


def _is_plain(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_null(kind)
    )
