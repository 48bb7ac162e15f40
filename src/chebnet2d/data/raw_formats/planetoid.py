"""Cora, CiteSeer, PubMed: eight files ``ind.NAME.*``, seven of them pickles of Python 2."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch_geometric.data import Data

from chebnet2d.data.catalogue import Entry
from chebnet2d.data.dataset import make_data
from chebnet2d.data.raw_formats.raw_files import broken, read_npz, reading
from chebnet2d.data.raw_formats.registry import Source, raw_format
from chebnet2d.data.raw_formats.unpickler import load_arrays


def _sources(entry: Entry) -> list[Source]:
    from torch_geometric.datasets import Planetoid

    splits = [Source(f"{Planetoid.geom_gcn_url}/splits/{file}", file, optional=True) for file in entry.optional]
    return [Source(f"{Planetoid.url}/{file}", file) for file in entry.files] + splits


@raw_format("planetoid", _sources)
def read_planetoid(folder: Path, entry: Entry) -> Data:
    """Rows of ``allx`` come first; row j of ``tx`` belongs to node ``test.index[j]``.

    In CiteSeer 15 numbers in the range of the test nodes are in no file: isolated nodes without features and without a label.
    They get empty features and the label -1 here (``load`` then does what the literature does with them).
    """
    parts = {part: _unpickled(folder / f"ind.{entry.name}.{part}") for part in ("x", "tx", "allx", "y", "ty", "ally")}
    index_path, graph_path = (folder / f"ind.{entry.name}.{part}" for part in ("test.index", "graph"))
    with reading(index_path, "one node index per line"):
        test = np.loadtxt(index_path, dtype=np.int64, ndmin=1)
    _check_shapes(index_path, entry, parts, test)
    first = parts["allx"].shape[0]
    nodes = int(test.max()) + 1

    # Selection matrix: row i picks the stored row of node i, or nothing.
    stored = scipy.sparse.vstack([scipy.sparse.csr_array(parts["allx"]), scipy.sparse.csr_array(parts["tx"])], format="csr")
    rows = np.concatenate([np.arange(first), test])
    pick = scipy.sparse.csr_array((np.ones(rows.size, np.float32), (rows, np.arange(rows.size))), shape=(nodes, rows.size))
    x = scipy.sparse.csr_array(pick @ stored)
    one_hot = np.concatenate([parts["ally"], parts["ty"]])
    y = np.full(nodes, -1, dtype=np.int64)
    y[rows] = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)

    with reading(graph_path, "a dictionary from a node to the list of its neighbours"):
        graph = load_arrays(graph_path)
        degrees = np.array([len(neighbours) for neighbours in graph.values()])
        sources = np.repeat(np.fromiter(graph.keys(), np.int64, len(graph)), degrees)
        targets = np.fromiter(chain.from_iterable(graph.values()), np.int64, int(degrees.sum()))

    train = len(parts["y"])
    masks = {part: np.zeros(nodes, dtype=bool) for part in ("train", "val", "test")}
    masks["train"][:train] = True
    masks["val"][train : min(train + 500, first)] = True
    masks["test"][test] = True
    edges = np.stack([sources, targets])
    data = make_data(entry.name, x, edges, y, num_classes=one_hot.shape[1], metric=entry.metric, masks=masks)
    _add_geom_gcn(data, folder, entry)
    return data


def _unpickled(path: Path) -> Any:
    with reading(path, "a pickle of one array and nothing else"):
        array = load_arrays(path)
        if getattr(array, "ndim", 0) != 2:
            raise broken(path, "hold a matrix", f"{type(array).__name__}")
        return array


def _check_shapes(path: Path, entry: Entry, parts: dict[str, Any], test: Any) -> None:
    """``path``: the file of the test indices."""
    (first, features), classes = parts["allx"].shape, parts["ally"].shape[1]
    for rows, labels in (("x", "y"), ("tx", "ty"), ("allx", "ally")):
        rows_path, labels_path = (path.with_name(f"ind.{entry.name}.{part}") for part in (rows, labels))
        count, width = parts[rows].shape
        if parts[labels].shape[0] != count:
            raise broken(labels_path, f"have a row for each of the {count} rows of {rows}", f"{parts[labels].shape[0]}")
        if parts[labels].shape[1] != classes:
            raise broken(labels_path, f"have {classes} classes, as ally", f"{parts[labels].shape[1]}")
        if width != features:
            raise broken(rows_path, f"have {features} features, as allx", f"{width}")
    if test.size != parts["tx"].shape[0]:
        raise broken(path, f"have an index for each of the {parts['tx'].shape[0]} rows of tx", f"{test.size}")
    if np.unique(test).size != test.size or test.size == 0 or int(test.min()) < first:
        raise broken(path, f"hold different indices from {first} on", "repeated or smaller ones" if test.size else "none")


def _add_geom_gcn(data: Data, folder: Path, entry: Entry) -> None:
    """The ten splits of Geom-GCN, if their files lie beside the others."""
    paths = [folder / file for file in entry.optional]
    if not paths or not all(path.is_file() for path in paths):
        return
    masks = [read_npz(path, ("train_mask", "val_mask", "test_mask")) for path in paths]
    for part in ("train", "val", "test"):
        table = np.stack([np.asarray(mask[f"{part}_mask"], dtype=bool) for mask in masks], axis=1)
        if table.shape[0] != data.num_nodes:
            raise broken(paths[0], f"have {data.num_nodes} entries", f"{table.shape[0]}")
        data[f"geom_gcn_{part}_mask"] = torch.from_numpy(table)
