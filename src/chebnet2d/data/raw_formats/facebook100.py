"""facebook100, as in LINKX: a MATLAB file with a sparse matrix and seven columns about each person."""

from pathlib import Path

import numpy as np
import scipy.sparse
from torch_geometric.data import Data

from chebnet2d.data.dataset import make_data
from chebnet2d.data.entry import Entry
from chebnet2d.data.raw_formats.linkx import linkx_masks, linkx_sources
from chebnet2d.data.raw_formats.raw_files import broken, read_mat, reading
from chebnet2d.data.raw_formats.registry import raw_format


@raw_format("facebook100", linkx_sources)
def read_facebook100(folder: Path, entry: Entry) -> Data:
    """Label: the stated gender (column 1), of which 0 means unknown, hence -1. Features: one-hot codes of the other six.

    A missing value (0) in those is a value like any other: it has a column of its own.
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
