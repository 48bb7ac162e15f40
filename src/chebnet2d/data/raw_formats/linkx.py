"""What the datasets of LINKX share: where their files come from, and their fixed splits."""

from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d.data.entry import Entry
from chebnet2d.data.raw_formats.raw_files import broken, reading
from chebnet2d.data.raw_formats.registry import Source
from chebnet2d.data.raw_formats.unpickler import load_object_npy


def linkx_sources(entry: Entry) -> list[Source]:
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
        splits = load_object_npy(path)
        masks = {part: np.zeros((nodes, len(splits)), dtype=bool) for part in ("train", "val", "test")}
        for s, split in enumerate(splits):
            for part, key in (("train", "train"), ("val", "valid"), ("test", "test")):
                index = np.asarray(split[key], dtype=np.int64)
                if index.size and (index.min() < 0 or index.max() >= nodes):
                    raise broken(path, f"hold node indices from 0 to {nodes - 1}", f"{int(index.max())} in split {s}")
                masks[part][index, s] = True
    return masks
