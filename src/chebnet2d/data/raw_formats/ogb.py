"""The datasets of OGB: compressed CSV files without headers, and one official split."""

import csv
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.catalogue import Entry
from chebnet2d.data.dataset import make_data
from chebnet2d.data.raw_formats.raw_files import broken, node_mask, read_csv
from chebnet2d.data.raw_formats.registry import Source, raw_format

URL = "https://snap.stanford.edu/ogb/data/nodeproppred/{}.zip"


def _sources(entry: Entry) -> list[Source]:
    url = URL.format(entry.name.removeprefix("ogbn-"))
    package = importlib.util.find_spec("ogb")
    for location in (package.submodule_search_locations or ()) if package else ():
        table = Path(location) / "nodeproppred" / "master.csv"  # rows are properties, columns are datasets
        if table.is_file():
            with table.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    if row.get("") == "url":
                        url = row.get(entry.name) or url
    return [Source(url, "archive.zip", archive=True)]


@raw_format("ogb", _sources)
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
        masks[part] = node_mask(paths[0], _matrix(paths[0], "int64")[:, 0], len(x))
    return make_data(entry.name, x, edges.T, known, num_classes=entry.statistics.classes, metric=entry.metric, masks=masks)


def _matrix(path: Path, dtype: str) -> Any:
    """A file of numbers without a header as a matrix. An empty field is a missing number, which integers do not have."""
    table = read_csv(path, None, dtype)
    columns = []
    for column in table.columns:
        if column.null_count and dtype == "int64":
            raise broken(path, "have a number in each field", f"{column.null_count} empty fields")
        columns.append(column.to_numpy())
    return np.stack(columns, axis=1)
