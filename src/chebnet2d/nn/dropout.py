"""Dropout for dense and sparse features, with a rate that may differ between the runs of a stack."""

import torch
from torch import Tensor, nn

from chebnet2d._checks import real
from chebnet2d.kernels import keep_mask, relu_dropout
from chebnet2d.nn.features import Features, MaskedFeatures


class Dropout(nn.Module):
    """Zeroes each entry with probability ``p`` in training and scales the rest by 1 / (1 - p).

    On sparse features only stored values are dropped: zeros stay zeros either way, so the result has the same distribution at a
    fraction of the cost. The rate is a buffer, so that ``torch.func.stack_module_state`` stacks it; it is not saved.
    """

    p: Tensor

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        real("Dropout", "p", p, 0, 1, below=True)
        self.register_buffer("p", torch.tensor(float(p), dtype=torch.float64), persistent=False)
        # A plain attribute, because the buffer may be a stack: whether a mask is drawn at all.
        self.active = p > 0

    def forward(self, x: Features) -> Features:
        if not self.training or not self.active:
            return x
        if isinstance(x, Tensor):
            return x * keep_mask(x.shape, self.p, x)
        pattern = x.pattern if isinstance(x, MaskedFeatures) else x
        return MaskedFeatures(pattern, x.values * keep_mask(x.values.shape, self.p, x.values))

    def after_relu(self, x: Tensor) -> Tensor:
        """``self(x.relu())`` for x: N x H, the same numbers in fewer passes over memory."""
        return relu_dropout(x, self.p) if self.training and self.active else x.relu()

    def _apply(self, fn, recurse=True):  # type: ignore[no-untyped-def]
        return self  # a rate is a number: it has no device and no precision of its own

    def extra_repr(self) -> str:
        return f"p={float(self.p):g}"
