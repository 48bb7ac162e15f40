"""Genius, as in LINKX: a MATLAB file with edges, features and labels."""

from pathlib import Path

import numpy as np
from torch_geometric.data import Data

from chebnet2d.data.dataset import make_data
from chebnet2d.data.entry import Entry
from chebnet2d.data.raw_formats.linkx import linkx_masks, linkx_sources
from chebnet2d.data.raw_formats.raw_files import read_mat, reading
from chebnet2d.data.raw_formats.registry import raw_format


@raw_format("genius", linkx_sources)
def read_genius(folder: Path, entry: Entry) -> Data:
    path = folder / entry.files[0]
    content = read_mat(path, ("edge_index", "node_feat", "label"))
    with reading(path, "a file with edge_index (2 x E), node_feat (N x F) and label (N)"):
        x = np.asarray(content["node_feat"], dtype=np.float32)
        labels = np.asarray(content["label"]).reshape(-1).astype(np.int64)
        edges = np.asarray(content["edge_index"]).astype(np.int64)
    return make_data(entry.name, x, edges, labels, num_classes=2, metric=entry.metric, masks=linkx_masks(folder, len(x)))
