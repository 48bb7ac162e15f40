"""OptBasis: the basis that is orthonormal for each channel's own signal."""

from typing import Any, ClassVar

from torch import Tensor, nn

from chebnet2d._checks import one_of
from chebnet2d.conv import SpectralConv
from chebnet2d.graph import Graph
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, Linear


class HiddenFilter(Decoupled):
    """The frame of OptBasis and FavardGNN: dropout, Linear, ReLU, dropout2, filter on H channels, dropout, Linear.

    In the unified variant the MLP goes to C logits, and nothing follows the filter.
    """

    defaults: ClassVar[dict[str, Any]] = {"filter_dropout": 0.5}

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        in_channels, hidden_channels, out_channels = sizes
        conv = self.convolution(hidden_channels, hidden_channels, **options)
        opening = nn.Sequential(Dropout(dropout), Linear(in_channels, hidden_channels), nn.ReLU())
        self._assemble(opening, filter_dropout, conv, in_channels)
        self.closing = nn.Sequential(Dropout(dropout), Linear(hidden_channels, out_channels))

    def linear_end(self) -> tuple[Tensor, Tensor] | None:
        if self.variant == "unified":
            return super().linear_end()
        last = self.closing[1]
        assert isinstance(last, Linear)
        assert last.bias is not None
        return last.weight, last.bias

    def _faithful(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        logits: Tensor = self.closing(self._unified(x, edge_index, edge_weight))
        return logits


@register("optbasis")
class OptBasis(HiddenFilter):
    """A filter in the optimal basis, which is orthonormal for the signal of the channel (Guo, Wei 2023).

    Args:
        degree: K.
        dropout: before both linear layers. filter_dropout: before the filter.
        coefficients: "channel" (one filter for each channel, as the authors' code) or "shared" (one for all).
        variant: "faithful", or "unified": the MLP to C logits, then the filter on them.
    """

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 10, coefficients: str = "channel") -> SpectralConv:
        paradigm = {"channel": "III", "shared": "I"}[one_of("OptBasis", "coefficients", coefficients, ("channel", "shared"))]
        return SpectralConv(in_channels, out_channels, degree, paradigm=paradigm, basis="orthonormal", operator="P")
