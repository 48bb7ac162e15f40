"""Dropout for dense and sparse features, whose rate is data: runs of one stack may differ in it."""

import torch
from torch import Tensor, nn

from chebnet2d._checks import real
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.random_streams import keep_mask, relu_dropout


class MaskedFeatures:
    """Sparse features with other values at the stored places. Lives for one product; may hold a stack of values."""

    __slots__ = ("pattern", "values")

    def __init__(self, pattern: SparseOperator, values: Tensor) -> None:
        self.pattern = pattern
        self.values = values

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    def __matmul__(self, x: Tensor) -> Tensor:
        return self.pattern.weighted_product(self.values, x)


Features = Tensor | SparseOperator | MaskedFeatures
"""What a model takes as x: a dense matrix, or a sparse one that stays sparse."""


def pattern_of(x: Features) -> Tensor | SparseOperator:
    """x itself, or what it was before dropout: good for its shape, dtype and device."""
    return x.pattern if isinstance(x, MaskedFeatures) else x


class Dropout(nn.Module):
    """Zeroes each entry with probability ``p`` in training and scales the rest by 1 / (1 - p).

    On sparse features it drops stored values only: zeros stay zeros either way, so the result has the same law at a
    fraction of the cost. The rate is a buffer that is not saved, so that ``torch.func.stack_module_state`` stacks it.
    """

    p: Tensor

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        real("Dropout", "p", p, 0, 1, below=True)
        self.register_buffer("p", torch.tensor(float(p), dtype=torch.float64), persistent=False)
        # Known without looking at the buffer, which may be a stack: whether any mask is drawn at all.
        self.active = p > 0

    def forward(self, x: Features) -> Features:
        if not self.training or not self.active:
            return x
        if isinstance(x, SparseOperator):
            return MaskedFeatures(x, x.values * keep_mask(x.values.shape, self.p, x.values))
        if isinstance(x, MaskedFeatures):
            return MaskedFeatures(x.pattern, x.values * keep_mask(x.values.shape, self.p, x.values))
        return x * keep_mask(x.shape, self.p, x)

    def after_relu(self, x: Tensor) -> Tensor:
        """Dropout of relu(x): the same numbers as ``self(x.relu())`` in fewer passes over memory."""
        return relu_dropout(x, self.p) if self.training and self.active else x.relu()

    def _apply(self, fn, recurse=True):  # type: ignore[no-untyped-def]
        return self  # a rate is a number: it has no device and no precision of its own

    def extra_repr(self) -> str:
        return f"p={float(self.p):g}"
