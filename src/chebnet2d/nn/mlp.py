"""A multilayer perceptron for dense or sparse features."""

import itertools
from typing import cast

from torch import Tensor, nn

from chebnet2d._checks import flag, integer
from chebnet2d.nn.batch_norm import BatchNorm
from chebnet2d.nn.dropout import Dropout
from chebnet2d.nn.features import Features
from chebnet2d.nn.linear import Linear


class MLP(nn.Module):
    """dropout, Linear, ReLU, dropout, Linear, ...: ``num_layers`` linear layers with dropout before each.

    Args:
        input_dropout: the rate before the first layer, if it differs from ``dropout``.
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
        """All layers after the first linear one, for hidden: N x H."""
        for i in range(1, len(self.layers)):
            dropout = cast(Dropout, self.dropouts[i])
            hidden = dropout(self.norms[i - 1](hidden.relu())) if self.norms else dropout.after_relu(hidden)
            hidden = self.layers[i](hidden)
        return hidden
