"""The graphs of Shchur et al. 2018 (Amazon's co-purchases, Coauthor): numpy archives with two sparse matrices in CSR parts."""

from pathlib import Path

import numpy as np
import scipy.sparse
from torch_geometric.data import Data

from chebnet2d.data.dataset import make_data
from chebnet2d.data.entry import Entry
from chebnet2d.data.raw_formats.raw_files import read_npz, reading
from chebnet2d.data.raw_formats.registry import Source, raw_format


def _sources(entry: Entry) -> list[Source]:
    from torch_geometric.datasets import Amazon

    return [Source(f"{Amazon.url.rstrip('/')}/{file}", file) for file in entry.files]


@raw_format("gnn-benchmark", _sources)
def read_gnn_benchmark(folder: Path, entry: Entry) -> Data:
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
