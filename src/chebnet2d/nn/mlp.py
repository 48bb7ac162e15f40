"""Linear layers that take sparse features, and the MLP made of them."""

import itertools
import math
from typing import Any

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, flag, integer
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.dropped_product import dropped_product
from chebnet2d.nn.dropout import Dropout, Features, MaskedFeatures

NARROW = 16


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

    def forward(self, x: Features, dropout: Dropout | None = None) -> Tensor:
        """``dropout``: on x, before the product. The same as ``self(dropout(x))``, in half of the time where x is dense."""
        if x.shape[-1] != self.in_channels:
            raise InputError("Linear", "x", f"of {self.in_channels} columns", x)
        z = _product(x, self.weight, dropout)
        return z if self.bias is None else z.add_(self.bias)  # nobody else has z: a second array would be a pass over memory

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, bias={self.bias is not None}"


def _product(x: Features, weight: Tensor, dropout: Dropout | None) -> Tensor:
    if not isinstance(x, Tensor) or x.device.type != "cpu":
        return (x if dropout is None else dropout(x)) @ weight
    # On a CPU a product with less than 16 columns costs two to four times one with 16, forward and backward: add zeros.
    columns = weight.shape[-1]
    wide = weight if columns >= NARROW else nn.functional.pad(weight, (0, NARROW - columns))
    if dropout is not None and dropout.training and dropout.active:
        z = dropped_product(x, wide, dropout.p)
    else:
        z = x @ wide
    return z if columns >= NARROW else z[..., :columns]


class GlorotLinear(Linear):
    """A linear layer that starts with Glorot's uniform weights and zero biases."""

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation over nodes, without torch's count of batches: it is unused, and saved state is of one dtype then."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.register_buffer("num_batches_tracked", None)

    def _load_from_state_dict(self, *arguments, **more):  # type: ignore[no-untyped-def]
        # torch's own would put the count of batches into a state that has none.
        nn.Module._load_from_state_dict(self, *arguments, **more)

    def reset_running_stats(self) -> None:
        if self.num_batches_tracked is None and self.running_mean is not None and self.running_var is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
        else:
            super().reset_running_stats()


class MLP(nn.Module):
    """dropout, Linear, ReLU, dropout, Linear, ...: ``num_layers`` linear layers with dropout before each.

    Args:
        input_dropout: rate before the first layer, where it differs from ``dropout``.
        bias: whether the linear layers have biases.
        batch_norm: batch normalisation after each ReLU, before the dropout.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int = 2,
        dropout: float = 0.5,
        *,
        input_dropout: float | None = None,
        bias: bool = True,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        integer("MLP", "hidden_channels", hidden_channels, 1)
        integer("MLP", "num_layers", num_layers, 1)
        flag("MLP", "bias", bias)
        sizes = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(Linear(a, b, bias) for a, b in itertools.pairwise(sizes))
        first = dropout if input_dropout is None else input_dropout
        self.dropouts = nn.ModuleList(Dropout(first if i == 0 else dropout) for i in range(num_layers))
        self.norms = nn.ModuleList()
        if flag("MLP", "batch_norm", batch_norm):
            self.norms.extend(BatchNorm(hidden_channels) for _ in range(num_layers - 1))

    def forward(self, x: Features) -> Tensor:
        return self.rest(self.layers[0](x, self.dropouts[0]))

    def rest(self, hidden: Tensor) -> Tensor:
        """All that follows the first linear layer."""
        for i in range(1, len(self.layers)):
            dropout: Any = self.dropouts[i]
            hidden = dropout(self.norms[i - 1](hidden.relu())) if self.norms else dropout.after_relu(hidden)
            hidden = self.layers[i](hidden)
        return hidden


def check_features(owner: str, x: object, columns: int) -> None:
    """The sentence for a wrong x, before any layer sees it."""
    if not isinstance(x, Tensor | SparseOperator | MaskedFeatures) or len(x.shape) != 2 or x.shape[1] != columns:
        raise InputError(owner, "x", f"an N x {columns} tensor or SparseOperator", x)
    if isinstance(x, Tensor) and not x.is_floating_point():
        raise InputError(owner, "x", "a floating point dtype", got=str(x.dtype), verb="have")
