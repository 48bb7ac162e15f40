"""Two families in numpy archives: Amazon's co-purchases (CSR parts) and the heterophilous graphs (dense, with ten splits)."""

from pathlib import Path

import numpy as np
import scipy.sparse
from torch_geometric.data import Data

from chebnet2d.data.catalogue import Entry
from chebnet2d.data.dataset import make_data
from chebnet2d.data.raw_formats.raw_files import broken, read_npz, reading


def read_amazon(folder: Path, entry: Entry) -> Data:
    path = folder / entry.files[0]
    keys = tuple(f"{matrix}_{part}" for matrix in ("adj", "attr") for part in ("data", "indices", "indptr", "shape"))
    arrays = read_npz(path, (*keys, "labels"), ("class_names",))
    with reading(path, "two sparse matrices in CSR parts, with labels"):
        adjacency, x = (
            scipy.sparse.csr_array(
                tuple(arrays[f"{matrix}_{part}"] for part in ("data", "indices", "indptr")),
                shape=tuple(int(size) for size in arrays[f"{matrix}_shape"]),
            )
            for matrix in ("adj", "attr")
        )
        for matrix in (adjacency, x):
            matrix.check_format(full_check=True)
        edges = np.stack(adjacency.nonzero())
    names = arrays.get("class_names")
    labels = arrays["labels"].astype(np.int64)
    return make_data(entry.name, x, edges, labels, metric=entry.metric, class_names=None if names is None else names.tolist())


def read_heterophilous(folder: Path, entry: Entry) -> Data:
    path = folder / entry.files[0]
    parts = ("train", "val", "test")
    arrays = read_npz(path, ("node_features", "node_labels", "edges", *(f"{part}_masks" for part in parts)))
    if arrays["edges"].ndim != 2 or arrays["edges"].shape[1] != 2:
        raise broken(path, "have edges of shape E x 2", f"{arrays['edges'].shape}")
    masks = {part: arrays[f"{part}_masks"].T for part in parts}
    labels = arrays["node_labels"].astype(np.int64)
    return make_data(entry.name, arrays["node_features"], arrays["edges"].T, labels, metric=entry.metric, masks=masks)
