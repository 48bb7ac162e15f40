"""The datasets of LINKX in MATLAB files (facebook100, genius), and the fixed splits that LINKX made for these and others."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from torch_geometric.data import Data

from chebnet2d.data.catalogue import Entry
from chebnet2d.data.dataset import make_data
from chebnet2d.data.raw_formats.raw_files import broken, node_mask, read_mat, reading
from chebnet2d.data.raw_formats.registry import Source, raw_format
from chebnet2d.data.raw_formats.unpickler import load_object_npy


def _sources(entry: Entry) -> list[Source]:
    from torch_geometric.datasets import LINKXDataset

    files = [Source(url, file) for file, url in LINKXDataset.datasets[entry.name].items()]
    return files + linkx_split_sources(entry)


def linkx_split_sources(entry: Entry) -> list[Source]:
    from torch_geometric.datasets import LINKXDataset

    return [Source(f"{LINKXDataset.github_url}/splits/{file}", file, optional=True) for file in entry.optional]


def linkx_masks(folder: Path, nodes: int) -> dict[str, Any] | None:
    """The fixed splits of LINKX, if the folder has a ``*-splits.npy``: N x S masks."""
    path = next(iter(sorted(folder.glob("*-splits.npy"))), None)
    if path is None:
        return None
    with reading(path, "a list of splits with train, valid and test indices"):
        splits, names = load_object_npy(path), {"train": "train", "val": "valid", "test": "test"}
        return {part: np.stack([node_mask(path, s[name], nodes) for s in splits], axis=1) for part, name in names.items()}


@raw_format("genius", _sources)
def read_genius(folder: Path, entry: Entry) -> Data:
    path = folder / entry.files[0]
    content = read_mat(path, ("edge_index", "node_feat", "label"))
    with reading(path, "a file with edge_index (2 x E), node_feat (N x F) and label (N)"):
        x = np.asarray(content["node_feat"], dtype=np.float32)
        labels = np.asarray(content["label"]).reshape(-1).astype(np.int64)
        edges = np.asarray(content["edge_index"]).astype(np.int64)
    return make_data(entry.name, x, edges, labels, num_classes=2, metric=entry.metric, masks=linkx_masks(folder, len(x)))


@raw_format("facebook100", _sources)
def read_facebook100(folder: Path, entry: Entry) -> Data:
    """A sparse matrix and seven columns about each person.

    Label: the stated gender (column 1), of which 0 means unknown, hence -1. Features: one-hot codes of the other six. A missing
    value (0) in those is a value like any other: it has a column of its own.
    """
    path = folder / entry.files[0]
    content = read_mat(path, ("A", "local_info"))
    with reading(path, "a facebook100 file: a sparse A and an N x 7 local_info"):
        info = np.asarray(content["local_info"]).astype(np.int64)
        adjacency = scipy.sparse.csr_array(content["A"])
        if info.ndim != 2 or info.shape[1] != 7 or adjacency.shape != (len(info), len(info)):
            raise broken(path, "have A of shape N x N and local_info of shape N x 7", f"{adjacency.shape} and {info.shape}")
        columns, offset = [], 0
        for column in (0, 2, 3, 4, 5, 6):
            values, code = np.unique(info[:, column], return_inverse=True)
            columns.append(code.reshape(-1) + offset)
            offset += values.size
        index = np.stack(columns, axis=1)
        pointers = np.arange(len(info) + 1) * 6
        x = scipy.sparse.csr_array((np.ones(index.size, np.float32), index.reshape(-1), pointers), shape=(len(info), offset))
        edges = np.stack(adjacency.nonzero())
    masks = linkx_masks(folder, len(info))
    return make_data(entry.name, x, edges, info[:, 1] - 1, num_classes=2, metric=entry.metric, masks=masks)
