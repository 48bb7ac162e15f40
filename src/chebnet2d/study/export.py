"""Every run of a study, trials included, in one flat file, and back."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d._json import to_json
from chebnet2d._targets import Mark, check_target, written_whole
from chebnet2d.study.curves import unpack_curve
from chebnet2d.study.layout import REPORT, STORED, TRIAL, parsed_json, restored, stored
from chebnet2d.study.reuse import check_distinct
from chebnet2d.study.store import Store

ENDINGS = (".csv", ".parquet", ".json")
_DATABASE = b"SQLite format 3\0"
_MARKS = (Mark(b'"run_id","unit_id"'), Mark(b"PAR1", b"unit_id"), Mark(b"[\n {", b'"unit_id"'), Mark(b"[]"))


def export_rows(store: str | Path, out: str | Path, *, datasets: Collection[str] | None = None, force: bool = False) -> int:
    """Write all rows, or those on some datasets, trials too, each with its checksum, and say how many they are.

    Nested values (test metrics, configuration, versions, machine) are JSON text in CSV and Parquet. ``force``: also in the place
    of a file that is no exported study.
    """
    store, out = Path(store), Path(out)
    if out.suffix not in ENDINGS:
        raise InputError("export", "out", f"in {', '.join(ENDINGS)}", str(out), verb="end")
    check_target("export", "out", out, keep=(store,), marks=_MARKS, force=force)
    with Store(store, create=False) as opened:
        rows = [*opened.rows(), *opened.trials()]
    if datasets is not None:
        there = {row["dataset"] for row in rows}
        wanted = {one_of("export", "datasets", name, there) for name in datasets}
        rows = [row for row in rows if row["dataset"] in wanted]
    values = [dict(zip(STORED, stored(row), strict=True)) for row in rows]
    with written_whole(out) as temporary:
        if out.suffix == ".json":
            nested = [{**row, "checksum": value["checksum"]} for row, value in zip(rows, values, strict=True)]
            temporary.write_text(to_json(nested, indent=1), encoding="utf-8")
        else:
            import pyarrow as pa
            import pyarrow.csv
            import pyarrow.parquet

            table = pa.Table.from_pylist(values)
            if out.suffix == ".csv":
                pyarrow.csv.write_csv(table, temporary)
            else:
                pyarrow.parquet.write_table(table, temporary, compression="zstd")  # curves get smaller by a third
    return len(rows)


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """The runs of a report, from a store or from a file that ``export_rows`` wrote, in the layout of today whatever theirs is.

    Every row is checked. CSV is not read: it does not tell a text from a number.
    """
    return [row for row in read_all(path) if row["kind"] == REPORT]


def read_trials(path: str | Path) -> list[dict[str, Any]]:
    """The same for the runs of trials, of which only validation nodes are known."""
    return [row for row in read_all(path) if row["kind"] == TRIAL]


def read_for_plots(path: str | Path) -> list[dict[str, Any]]:
    """Report and trials, with learning curves as numbers."""
    return [{**row, "curve": unpack_curve(row["curve"]) if row.get("curve") else None} for row in read_all(path)]


def read_all(path: str | Path) -> list[dict[str, Any]]:
    """Report and trials."""
    path = Path(path)
    if path.suffix not in ENDINGS or _is_database(path):
        with Store(path, create=False) as store:
            return [*store.rows(), *store.trials()]
    if path.suffix == ".csv":
        raise InputError("study", "reuse", "a store or an exported study in Parquet or JSON", got=f"{str(path)!r}")
    if not path.exists():
        raise InputError("study", "reuse", "a study", got=f"{str(path)!r}, which does not exist")
    try:
        found = parsed_json(path.read_text(encoding="utf-8")) if path.suffix == ".json" else _parquet(path)
        if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
            raise ValueError("it is no list of rows")
    except (ValueError, OSError, MemoryError) as error:  # what pyarrow raises is a ValueError, an OSError or a MemoryError
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError("study", "reuse", "a store or an exported study", got=f"{str(path)!r}: {reason}") from None
    if len({frozenset(row) for row in found}) > 1:
        raise InputError("study", f"the rows of {str(path)!r}", "the same columns", got="different ones", verb="have")
    rows = [restored(row, f"row {number} of {str(path)!r}") for number, row in enumerate(found, start=1)]
    check_distinct(rows, f"{str(path)!r}")
    return rows


def _is_database(path: Path) -> bool:
    """A store may have any name, also that of an export."""
    try:
        with path.open("rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False


def _parquet(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
        if table.num_columns and not table.num_rows:  # an export of no runs has no columns either
            raise ValueError("its rows are missing")
        return table.to_pylist()
    except (pa.ArrowException, KeyError, TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None
