"""Linear layers that take dense or sparse features."""

import math

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, integer
from chebnet2d.kernels import dropped_product
from chebnet2d.nn.dropout import Dropout
from chebnet2d.nn.features import Features

# On a CPU a product with less than 16 columns costs two to four times as much as one with 16, forward and backward.
_NARROW = 16


class Linear(nn.Module):
    """x W + b: N x out, for dense or sparse x: N x in. W is stored as in x out, the order in which a sparse product reads it."""

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        self.in_channels = integer("Linear", "in_channels", in_channels, 1)
        self.out_channels = integer("Linear", "out_channels", out_channels, 1)
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in +-1 / sqrt(in_channels), as ``torch.nn.Linear``."""
        bound = 1 / math.sqrt(self.in_channels)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: Features, dropout: Dropout | None = None) -> Tensor:
        """``dropout`` is applied to x first: the same as ``self(dropout(x))``, in half of the time if x is dense."""
        if x.shape[-1] != self.in_channels:
            raise InputError("Linear", "x", f"of {self.in_channels} columns", x)
        z = _product(x, self.weight, dropout)
        # In place: z belongs to this call, and a copy costs a pass over memory.
        return z if self.bias is None else z.add_(self.bias)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, bias={self.bias is not None}"


def _product(x: Features, weight: Tensor, dropout: Dropout | None) -> Tensor:
    if not isinstance(x, Tensor) or x.device.type != "cpu":
        return (x if dropout is None else dropout(x)) @ weight
    columns = weight.shape[-1]
    wide = weight if columns >= _NARROW else nn.functional.pad(weight, (0, _NARROW - columns))
    if dropout is not None and dropout.training and dropout.active:
        z = dropped_product(x, wide, dropout.p)
    else:
        z = x @ wide
    return z if columns >= _NARROW else z[..., :columns]


class GlorotLinear(Linear):
    """A linear layer whose weights start uniform, as Glorot has them, and whose biases start at zero."""

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
