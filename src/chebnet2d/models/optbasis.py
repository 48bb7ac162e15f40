"""OptBasis: the basis that is orthonormal for each channel's own signal."""

from typing import Any, ClassVar

from torch import Tensor, nn

from chebnet2d._checks import one_of
from chebnet2d.conv import PolynomialConv, SpectralConv
from chebnet2d.graph import Graph
from chebnet2d.models.decoupled import Decoupled, check_variant
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, Linear


class HiddenFilter(Decoupled):
    """The frame of OptBasis and FavardGNN: dropout, Linear, ReLU, dropout2, filter on H channels, dropout, Linear.

    In the unified variant the MLP goes to C logits, and nothing follows the filter.
    """

    closing: nn.Module

    def _build(self, sizes: tuple[int, int, int], dropout: float, filter_dropout: float, variant: str, **options: Any) -> None:
        if check_variant(type(self).__name__, variant) == "unified":
            self._assemble_unified(sizes, dropout, filter_dropout, **options)
            self.closing = nn.Sequential()
            return
        in_channels, hidden_channels, out_channels = sizes
        conv: PolynomialConv = self.convolution(hidden_channels, hidden_channels, **options)
        opening = nn.Sequential(Dropout(dropout), Linear(in_channels, hidden_channels), nn.ReLU())
        self._assemble(opening, filter_dropout, conv, in_channels)
        self.closing = nn.Sequential(Dropout(dropout), Linear(hidden_channels, out_channels))

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        hidden = super().forward(x, edge_index, edge_weight)
        logits: Tensor = self.closing(hidden)
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

    info: ClassVar[MethodInfo] = MethodInfo(
        title="OptBasis",
        paradigm="III",
        basis="orthonormal for the signal",
        formula="""Z = (sum_{k=0..K} h_k diag(alpha_k)) W2 + b2,   h_0 = x / |x|,   x = ReLU(X W1 + b1), for each column:
v = P h_{k-1};   v -= <v, h_{k-1}> h_{k-1};   v -= <v, h_{k-2}> h_{k-2};   h_k = v / |v|
P = D^-1/2 A D^-1/2. <.,.>: over all N nodes. alpha_k: H learned numbers, one per channel.
unified: x = h(X), MLP to C logits, and no map after the filter.""",
        citation="Guo, Wei: Graph neural networks with learnable and optimal polynomial bases. ICML 2023",
        departures="The authors' code adds noise of 1e-5 to x in every call, also in evaluation, so that no column is 0; here "
        "such a column stays 0, and so do the terms after its Krylov space is exhausted.",
    )

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        degree: int = 10,
        dropout: float = 0.5,
        filter_dropout: float = 0.5,
        coefficients: str = "channel",
        variant: str = "faithful",
    ) -> None:
        super().__init__()
        sizes = (in_channels, hidden_channels, out_channels)
        self._build(sizes, dropout, filter_dropout, variant, degree=degree, coefficients=coefficients)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 10, coefficients: str = "channel") -> SpectralConv:
        paradigm = {"channel": "III", "shared": "I"}[one_of("OptBasis", "coefficients", coefficients, ("channel", "shared"))]
        return SpectralConv(in_channels, out_channels, degree, paradigm=paradigm, basis="orthonormal", operator="P")
