"""Collections in numpy archives: Shchur et al. 2018 (Amazon, Coauthor) and Platonov et al. 2023 (heterophilous)."""

from pathlib import Path

import numpy as np
import scipy.sparse
from torch_geometric.data import Data

from chebnet2d.data.catalogue import Entry
from chebnet2d.data.dataset import make_data
from chebnet2d.data.raw_formats.raw_files import broken, read_npz, reading
from chebnet2d.data.raw_formats.registry import Source, raw_format
from chebnet2d.data.sparse_parts import check_parts


def _gnn_benchmark_sources(entry: Entry) -> list[Source]:
    from torch_geometric.datasets import Amazon

    return [Source(f"{Amazon.url.rstrip('/')}/{file}", file) for file in entry.files]


@raw_format("gnn-benchmark", _gnn_benchmark_sources)
def read_gnn_benchmark(folder: Path, entry: Entry) -> Data:
    """Two sparse matrices in CSR parts, ``adj`` and ``attr``, and labels."""
    path = folder / entry.files[0]
    keys = tuple(f"{matrix}_{part}" for matrix in ("adj", "attr") for part in ("data", "indices", "indptr", "shape"))
    arrays = read_npz(path, (*keys, "labels"), ("class_names",))
    matrices = []
    with reading(path, "two sparse matrices in CSR parts, with labels"):
        for name in ("adj", "attr"):
            *parts, shape = (arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape"))
            matrix = scipy.sparse.csr_array(tuple(parts), shape=tuple(int(size) for size in shape))
            check_parts(matrix)
            matrices.append(matrix)
    adjacency, x = matrices
    names, labels = arrays.get("class_names"), arrays["labels"].astype(np.int64)
    class_names = None if names is None else names.tolist()
    return make_data(entry.name, x, np.stack(adjacency.nonzero()), labels, metric=entry.metric, class_names=class_names)


def _heterophilous_sources(entry: Entry) -> list[Source]:
    from torch_geometric.datasets import HeterophilousGraphDataset

    return [Source(f"{HeterophilousGraphDataset.url}/{file}", file) for file in entry.files]


@raw_format("heterophilous", _heterophilous_sources)
def read_heterophilous(folder: Path, entry: Entry) -> Data:
    """Dense arrays, with ten splits."""
    path = folder / entry.files[0]
    parts = ("train", "val", "test")
    arrays = read_npz(path, ("node_features", "node_labels", "edges", *(f"{part}_masks" for part in parts)))
    if arrays["edges"].ndim != 2 or arrays["edges"].shape[1] != 2:
        raise broken(path, "have edges of shape E x 2", f"{arrays['edges'].shape}")
    masks = {part: arrays[f"{part}_masks"].T for part in parts}
    labels = arrays["node_labels"].astype(np.int64)
    return make_data(entry.name, arrays["node_features"], arrays["edges"].T, labels, metric=entry.metric, masks=masks)
