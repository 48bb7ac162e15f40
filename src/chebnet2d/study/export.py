"""Every run of a study in one flat file."""

import json
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.study.store import Store

ENDINGS = (".csv", ".parquet", ".json")


def export_rows(store: Path, out: Path) -> int:
    """Write all rows; nested values (configuration, versions, machine) are JSON text in CSV and Parquet."""
    if out.suffix not in ENDINGS:
        raise InputError(f"export: out must end in {', '.join(ENDINGS)}, got {str(out)!r}.")
    with Store(store, create=False) as opened:
        rows = list(opened.rows())
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.tmp")
    try:
        if out.suffix == ".json":
            temporary.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        else:
            _write_table(rows, temporary, out.suffix)
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)
    return len(rows)


def _write_table(rows: list[dict[str, Any]], path: Path, suffix: str) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    flat = [{k: json.dumps(v, sort_keys=True) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
    table = pa.Table.from_pylist(flat)
    if suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path)
