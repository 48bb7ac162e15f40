"""A split is three sets of nodes with a name, a seed and a digest: enough to say which one a number belongs to."""

import hashlib
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Split:
    """Disjoint node indices (int64). ``digest`` identifies the sets themselves, whoever made them."""

    name: str
    seed: int | None
    train: Tensor
    val: Tensor
    test: Tensor

    @property
    def digest(self) -> str:
        hasher = hashlib.sha256()
        for part in (self.train, self.val, self.test):
            hasher.update(str(part.numel()).encode())
            hasher.update(part.sort().values.numpy().tobytes())
        return hasher.hexdigest()[:16]

    def __str__(self) -> str:
        sizes = "/".join(str(part.numel()) for part in (self.train, self.val, self.test))
        return f"{self.name}, seed {self.seed}, {sizes} nodes, digest {self.digest}"
