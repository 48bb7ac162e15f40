"""What a model takes as its features x, dense or sparse."""

from dataclasses import dataclass

from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator


@dataclass(frozen=True, eq=False)
class MaskedFeatures:
    """Sparse features N x F after dropout: the pattern of a matrix with other values. Used for one product; may hold a stack."""

    pattern: SparseOperator
    values: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    def __matmul__(self, x: Tensor) -> Tensor:
        return self.pattern.weighted_product(self.values, x)


Features = Tensor | SparseOperator | MaskedFeatures
"""The features of the nodes: a dense N x F matrix, or a sparse one that stays sparse."""


def pattern_of(x: Features) -> Tensor | SparseOperator:
    """x before dropout, which has the shape, dtype and device of x."""
    return x.pattern if isinstance(x, MaskedFeatures) else x


def check_features(owner: str, x: object, columns: int) -> None:
    """Raises ``InputError`` unless x is N x ``columns``, of a floating point dtype if dense."""
    if not isinstance(x, Tensor | SparseOperator | MaskedFeatures) or len(x.shape) != 2 or x.shape[1] != columns:
        raise InputError(owner, "x", f"an N x {columns} tensor or SparseOperator", x)
    if isinstance(x, Tensor) and not x.is_floating_point():
        raise InputError(owner, "x", "a floating point dtype", got=str(x.dtype), verb="have")
