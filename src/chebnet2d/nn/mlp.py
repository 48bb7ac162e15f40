"""Linear layers that take sparse features, and the MLP made of them."""

import itertools
import math

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, fail, integer
from chebnet2d.graph import SparseOperator
from chebnet2d.nn.dropout import Dropout, Features, MaskedFeatures


class Linear(nn.Module):
    """x W + b for dense or sparse x. W is stored in x out, the order in which a sparse product reads it."""

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

    def forward(self, x: Features) -> Tensor:
        if x.shape[-1] != self.in_channels:
            raise fail("Linear", "x", f"of {self.in_channels} columns", x)
        z: Tensor = x @ self.weight
        return z if self.bias is None else z + self.bias

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, bias={self.bias is not None}"


class MLP(nn.Module):
    """dropout, Linear, ReLU, dropout, Linear, ...: ``num_layers`` linear layers with dropout before each."""

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, num_layers: int = 2, dropout: float = 0.5
    ) -> None:
        super().__init__()
        integer("MLP", "hidden_channels", hidden_channels, 1)
        integer("MLP", "num_layers", num_layers, 1)
        sizes = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.dropouts = nn.ModuleList(Dropout(dropout) for _ in self.layers)

    def forward(self, x: Features) -> Tensor:
        hidden: Features = x
        for i, (layer, dropout) in enumerate(zip(self.layers, self.dropouts, strict=True)):
            if i > 0 and isinstance(hidden, Tensor):
                hidden = hidden.relu()
            hidden = layer(dropout(hidden))
        if not isinstance(hidden, Tensor):
            raise InputError("MLP: num_layers must be >= 1.")
        return hidden


def check_features(owner: str, x: object, columns: int) -> None:
    """The sentence for a wrong x, before any layer sees it."""
    if not isinstance(x, Tensor | SparseOperator | MaskedFeatures) or len(x.shape) != 2 or x.shape[1] != columns:
        raise fail(owner, "x", f"an N x {columns} tensor or SparseOperator", x)
    if isinstance(x, Tensor) and not x.is_floating_point():
        raise InputError(f"{owner}: x must have a floating point dtype, got {x.dtype}.")
