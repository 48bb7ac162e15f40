"""Datasets in CSV files: Twitch-gamers (two files with headers) and OGB (compressed, without headers)."""

from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.catalogue import Entry
from chebnet2d.data.dataset import make_data
from chebnet2d.data.raw_formats.raw_files import broken, linkx_masks

_TWITCH_NUMBERS = ("views", "life_time", "dead_account", "affiliate")
_TWITCH_DATES = ("created_at", "updated_at")
_TWITCH_ORDER = ("views", "life_time", "created_at", "updated_at", "dead_account", "language", "affiliate")
_MAX_COLUMNS = 4096


def read_twitch_gamers(folder: Path, entry: Entry) -> Data:
    """Label: ``mature``. Seven features as LINKX has them: dates as the number YYYYMMDD, languages numbered in order of
    appearance, all as z-scores (the raw ones differ by nine orders of magnitude). Done in 64 bits: a date needs more than 24.
    """
    import pyarrow as pa

    edge_path, path = folder / "large_twitch_edges.csv", folder / "large_twitch_features.csv"
    types = {name: pa.int64() for name in ("numeric_id", "mature", *_TWITCH_NUMBERS)}
    types |= {name: pa.string() for name in (*_TWITCH_DATES, "language")}
    table = _read_csv(path, types)
    nodes = table.num_rows
    column: dict[str, Any] = {name: table.column(name) for name in types}
    for name, values in column.items():
        if values.null_count:
            raise broken(path, f"have a value of {name} in each line", f"{values.null_count} empty ones")
    ids = column["numeric_id"].to_numpy()
    if not np.array_equal(np.sort(ids), np.arange(nodes)):
        raise broken(path, f"number its {nodes} nodes from 0 to {nodes - 1}", f"numeric_id from {ids.min()} to {ids.max()}")

    features = {name: column[name].to_numpy().astype(np.float64) for name in _TWITCH_NUMBERS}
    for name in _TWITCH_DATES:
        try:
            features[name] = np.array([text.replace("-", "") for text in column[name].to_pylist()], dtype=np.int64).astype(
                np.float64
            )
        except ValueError:
            raise broken(path, f"have dates like 2017-02-19 in {name}", "something else") from None
    features["language"] = column["language"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.float64)
    x = np.stack([features[name] for name in _TWITCH_ORDER], axis=1)
    x -= x.mean(axis=0)
    deviation = x.std(axis=0, ddof=1) if nodes > 1 else np.ones(x.shape[1])
    x /= np.where(deviation > 0, deviation, 1.0)

    edges = _read_csv(edge_path, {"numeric_id_1": pa.int64(), "numeric_id_2": pa.int64()})
    pairs = np.stack([edges.column(name).to_numpy() for name in ("numeric_id_1", "numeric_id_2")])
    order = np.argsort(ids)
    labels = column["mature"].to_numpy()[order]
    return make_data(entry.name, x[order], pairs, labels, num_classes=2, metric=entry.metric, masks=linkx_masks(folder, nodes))


def read_ogb(folder: Path, entry: Entry) -> Data:
    """``raw/`` with edges, features and labels; ``split/KIND/`` with the indices of the one official split."""
    raw = folder / "raw"
    x = _matrix(raw / "node-feat.csv.gz", "float32")
    edges = _matrix(raw / "edge.csv.gz", "int64")
    labels = _matrix(raw / "node-label.csv.gz", "float64")[:, 0]
    if edges.shape[1] != 2:
        raise broken(raw / "edge.csv.gz", "have two columns", f"{edges.shape[1]}")
    if len(labels) != len(x):
        raise broken(raw / "node-label.csv.gz", f"have a line for each of the {len(x)} nodes", f"{len(labels)}")
    known = np.where(np.isnan(labels), -1, labels).astype(np.int64)
    masks = {}
    for part, name in (("train", "train"), ("val", "valid"), ("test", "test")):
        paths = sorted(folder.glob(f"split/*/{name}.csv.gz"))
        if not paths:
            raise InputError("load", str(folder / "split"), f"a folder with {name}.csv.gz", got="none", verb="have")
        index = _matrix(paths[0], "int64")[:, 0]
        if index.size and (index.min() < 0 or index.max() >= len(x)):
            raise broken(paths[0], f"hold node indices from 0 to {len(x) - 1}", f"{int(index.max())}")
        masks[part] = np.zeros(len(x), dtype=bool)
        masks[part][index] = True
    return make_data(entry.name, x, edges.T, known, num_classes=entry.statistics.classes, metric=entry.metric, masks=masks)


def _matrix(path: Path, dtype: str) -> Any:
    """A file of numbers without a header as a matrix. An empty field is a missing number, which integers do not have."""
    table = _read_csv(path, None, dtype)
    columns = []
    for column in table.columns:
        if column.null_count and dtype == "int64":
            raise broken(path, "have a number in each field", f"{column.null_count} empty fields")
        columns.append(column.to_numpy())
    return np.stack(columns, axis=1)


def _read_csv(path: Path, types: dict[str, Any] | None, dtype: str = "") -> Any:
    """A table by pyarrow: many cores, no loop in Python; a broken line is named in the error."""
    import pyarrow as pa
    from pyarrow import csv

    if types is None:  # columns are called f0, f1, ...; a type for a name that does not occur is ignored
        read = csv.ReadOptions(autogenerate_column_names=True)
        convert = csv.ConvertOptions(column_types={f"f{c}": pa.type_for_alias(dtype) for c in range(_MAX_COLUMNS)})
    else:
        read = csv.ReadOptions()
        convert = csv.ConvertOptions(column_types=types, include_columns=list(types))
    try:
        return csv.read_csv(path, read_options=read, convert_options=convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as first:
        error = first
        try:  # on one core: then the message has the number of the line
            read.use_threads = False
            csv.read_csv(path, read_options=read, convert_options=convert)
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as second:
            error = second
        reason = " ".join(str(error).split())[:150]
        raise InputError("load", str(path), "a CSV file in the format of its dataset", got=reason) from None
