"""A split: three sets of nodes with a name, a seed and a digest, so that a result can say exactly which split it is from."""

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class Split:
    """Disjoint sets of node indices, each a vector (int64) of its own length.

    ``digest`` identifies the sets themselves, whoever made them.
    """

    name: str
    seed: int | None
    train: Tensor
    val: Tensor
    test: Tensor

    @property
    def digest(self) -> str:
        hasher = hashlib.sha256()
        for part in self.parts.values():
            hasher.update(str(part.numel()).encode())
            hasher.update(part.sort().values.numpy().tobytes())
        return hasher.hexdigest()[:16]

    @property
    def parts(self) -> dict[str, Tensor]:
        """The three vectors of node indices by name."""
        return {"train": self.train, "val": self.val, "test": self.test}

    @property
    def sizes(self) -> dict[str, int]:
        return {name: part.numel() for name, part in self.parts.items()}

    def masks(self, nodes: int) -> dict[str, Tensor]:
        """The parts as boolean masks over N nodes, as torch_geometric's examples use them."""
        masks = {}
        for name, part in self.parts.items():
            masks[f"{name}_mask"] = torch.zeros(nodes, dtype=torch.bool)
            masks[f"{name}_mask"][part] = True
        return masks

    def to_dict(self) -> dict[str, Any]:
        """What a record keeps: enough to make the split again and to see that it is the same."""
        return {"name": self.name, "seed": self.seed, "sizes": self.sizes, "digest": self.digest}

    def __str__(self) -> str:
        sizes = "/".join(str(size) for size in self.sizes.values())
        return f"{self.name}, seed {self.seed}, {sizes} nodes, digest {self.digest}"
