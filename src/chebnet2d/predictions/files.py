"""Predictions in files: CSV or Parquet, written in batches, whole or not at all."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import Mark, check_target, written_whole
from chebnet2d.predictions.answers import Answers

ENDINGS = (".csv", ".parquet")
_MARKS = (Mark(b'"node","label"'), Mark(b"PAR1", b"chebnet2d"))


def check_predictions_file(out: Path, keep: Sequence[Path] = (), *, force: bool = False) -> None:
    """Before the work: whether the file can be written. ``keep``: files that are read, which it must not replace.

    ``force``: also in the place of a file that holds no predictions of ours.
    """
    if out.suffix not in ENDINGS:
        raise InputError("predict", "out", f"in {' or '.join(ENDINGS)}", str(out), verb="end")
    check_target("predict", "out", out, keep=keep, marks=_MARKS, force=force)


def write_predictions(answers: Answers, out: Path, *, force: bool = False) -> int:
    """Write CSV or Parquet, by the ending, batch by batch. Returns the number of rows."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    check_predictions_file(out, force=force)
    plain = out.suffix == ".csv"
    with written_whole(out) as temporary:
        if plain:
            schema = pa.schema([pa.field(f.name, pa.string()) if f.name == "label_set" else f for f in answers.schema])
            writer: Any = pyarrow.csv.CSVWriter(temporary, schema)
        else:
            writer = pyarrow.parquet.ParquetWriter(temporary, answers.schema)
        with writer:
            for batch in answers.batches():
                writer.write_batch(_flat(batch) if plain else batch)
    return len(answers)


def _flat(batch: Any) -> Any:
    """CSV has no lists: a set of labels becomes a JSON array, whatever letters they have."""
    import pyarrow as pa

    if "label_set" not in batch.schema.names:
        return batch
    place = batch.schema.names.index("label_set")
    texts = [json.dumps(words, ensure_ascii=False) for words in batch.column(place).to_pylist()]
    return batch.set_column(place, "label_set", pa.array(texts, pa.string()))
