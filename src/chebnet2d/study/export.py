"""Every run of a study in one flat file, and back."""

import json
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import check_target, written_whole
from chebnet2d.study.schema import COLUMNS, stored, unnested
from chebnet2d.study.store import Store

ENDINGS = (".csv", ".parquet", ".json")


def export_rows(store: str | Path, out: str | Path) -> int:
    """Write all rows; nested values (test metrics, configuration, versions, machine) are JSON text in CSV and Parquet."""
    store, out = Path(store), Path(out)
    if out.suffix not in ENDINGS:
        raise InputError("export", "out", f"in {', '.join(ENDINGS)}", str(out), verb="end")
    check_target("export", "out", out, keep=(store,))
    with Store(store, create=False) as opened:
        rows = list(opened.rows())
    with written_whole(out) as temporary:
        if out.suffix == ".json":
            temporary.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        else:
            import pyarrow as pa
            import pyarrow.csv
            import pyarrow.parquet

            write = pyarrow.csv.write_csv if out.suffix == ".csv" else pyarrow.parquet.write_table
            write(pa.Table.from_pylist([dict(zip(COLUMNS, stored(row), strict=True)) for row in rows]), temporary)
    return len(rows)


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a store, or of a file that ``export_rows`` wrote, in the layout of today whatever theirs is.

    CSV is not read: it does not tell a text from a number.
    """
    path = Path(path)
    if path.suffix == ".csv":
        raise InputError("study", "reuse", "a store or an exported study in Parquet or JSON", got=f"{str(path)!r}")
    if path.suffix not in ENDINGS:
        with Store(path, create=False) as store:
            return list(store.rows())
    try:
        if path.suffix == ".json":
            rows = json.loads(path.read_text(encoding="utf-8"))
        else:
            import pyarrow.parquet

            rows = pyarrow.parquet.read_table(path).to_pylist()
        return [unnested(row) for row in rows]
    except FileNotFoundError:
        raise InputError("study", "reuse", "a study", got=f"{str(path)!r}, which does not exist") from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:  # what pyarrow raises is a ValueError
        raise InputError("study", "reuse", "a store or an exported study", got=f"{str(path)!r}: {error}") from None
