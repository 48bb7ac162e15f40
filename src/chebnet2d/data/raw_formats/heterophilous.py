"""The heterophilous graphs of Platonov et al. 2023: numpy archives of dense arrays, with ten splits."""

from pathlib import Path

import numpy as np
from torch_geometric.data import Data

from chebnet2d.data.dataset import make_data
from chebnet2d.data.entry import Entry
from chebnet2d.data.raw_formats.raw_files import broken, read_npz
from chebnet2d.data.raw_formats.registry import Source, raw_format


def _sources(entry: Entry) -> list[Source]:
    from torch_geometric.datasets import HeterophilousGraphDataset

    return [Source(f"{HeterophilousGraphDataset.url}/{file}", file) for file in entry.files]


@raw_format("heterophilous", _sources)
def read_heterophilous(folder: Path, entry: Entry) -> Data:
    path = folder / entry.files[0]
    parts = ("train", "val", "test")
    arrays = read_npz(path, ("node_features", "node_labels", "edges", *(f"{part}_masks" for part in parts)))
    if arrays["edges"].ndim != 2 or arrays["edges"].shape[1] != 2:
        raise broken(path, "have edges of shape E x 2", f"{arrays['edges'].shape}")
    masks = {part: arrays[f"{part}_masks"].T for part in parts}
    labels = arrays["node_labels"].astype(np.int64)
    return make_data(entry.name, arrays["node_features"], arrays["edges"].T, labels, metric=entry.metric, masks=masks)
