"""Twitch-gamers, as SNAP publishes it: two CSV files with headers."""

from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from chebnet2d.data.catalogue import Entry
from chebnet2d.data.dataset import make_data
from chebnet2d.data.raw_formats.linkx import linkx_masks, linkx_split_sources
from chebnet2d.data.raw_formats.raw_files import broken, read_csv
from chebnet2d.data.raw_formats.registry import Source, raw_format

URL = "https://snap.stanford.edu/data/twitch_gamers.zip"
_NUMBERS = ("views", "life_time", "dead_account", "affiliate")
_DATES = ("created_at", "updated_at")
_ORDER = ("views", "life_time", "created_at", "updated_at", "dead_account", "language", "affiliate")


def _sources(entry: Entry) -> list[Source]:
    return [Source(URL, "twitch_gamers.zip", archive=True), *linkx_split_sources(entry)]


@raw_format("twitch-gamers", _sources)
def read_twitch_gamers(folder: Path, entry: Entry) -> Data:
    """Label: ``mature``. Seven features as LINKX has them: dates as the number YYYYMMDD, languages numbered in order of
    appearance, all as z-scores (the raw ones differ by nine orders of magnitude). Done in 64 bits: a date needs more than 24.
    """
    import pyarrow as pa

    edge_path, path = folder / "large_twitch_edges.csv", folder / "large_twitch_features.csv"
    types = {name: pa.int64() for name in ("numeric_id", "mature", *_NUMBERS)}
    types |= {name: pa.string() for name in (*_DATES, "language")}
    table = read_csv(path, types)
    nodes = table.num_rows
    column: dict[str, Any] = {name: table.column(name) for name in types}
    for name, values in column.items():
        if values.null_count:
            raise broken(path, f"have a value of {name} in each line", f"{values.null_count} empty ones")
    ids = column["numeric_id"].to_numpy()
    if not np.array_equal(np.sort(ids), np.arange(nodes)):
        raise broken(path, f"number its {nodes} nodes from 0 to {nodes - 1}", f"numeric_id from {ids.min()} to {ids.max()}")

    features = {name: column[name].to_numpy().astype(np.float64) for name in _NUMBERS}
    for name in _DATES:
        try:
            dates = np.array([text.replace("-", "") for text in column[name].to_pylist()], dtype=np.int64)
        except ValueError:
            raise broken(path, f"have dates like 2017-02-19 in {name}", "something else") from None
        features[name] = dates.astype(np.float64)
    features["language"] = column["language"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.float64)
    x = np.stack([features[name] for name in _ORDER], axis=1)
    x -= x.mean(axis=0)
    deviation = x.std(axis=0, ddof=1) if nodes > 1 else np.ones(x.shape[1])
    x /= np.where(deviation > 0, deviation, 1.0)

    edges = read_csv(edge_path, {"numeric_id_1": pa.int64(), "numeric_id_2": pa.int64()})
    pairs = np.stack([edges.column(name).to_numpy() for name in ("numeric_id_1", "numeric_id_2")])
    order = np.argsort(ids)
    labels = column["mature"].to_numpy()[order]
    return make_data(entry.name, x[order], pairs, labels, num_classes=2, metric=entry.metric, masks=linkx_masks(folder, nodes))
