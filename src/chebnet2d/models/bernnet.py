"""BernNet: a filter that is non-negative by construction."""

from typing import ClassVar

import torch
from torch import Tensor

from chebnet2d._checks import integer
from chebnet2d.conv import ParadigmI, SpectralConv
from chebnet2d.models.decoupled import Decoupled, check_variant
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.registry import register


class NonNegativeI(ParadigmI):
    """One filter for all channels with coefficients ReLU(theta)."""

    def coefficients(self) -> Tensor:
        return self.theta.relu()


class BernsteinWeights(NonNegativeI):
    """Started at 1: the polynomials add up to 1, so the filter starts as the identity, exactly."""

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        torch.nn.init.ones_(self.theta)


@register("bernnet")
class BernNet(Decoupled):
    """Bernstein polynomials of the Laplacian with non-negative coefficients on the logits of an MLP (He et al. 2021).

    Args:
        degree: K. The usual evaluation takes K (K + 3) / 2 products with the graph; here it takes K.
        filter_dropout: on the logits before the filter.
        variant: "faithful" and "unified" are the same here.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        title="BernNet",
        paradigm="I",
        basis="Bernstein",
        formula="""Z = sum_{k=0..K} ReLU(theta_k) 2^-K binom(K, k) L^k (2 I - L)^(K - k) h(X)
h: MLP to C logits. L = I - D^-1/2 A D^-1/2. theta: K + 1 learned numbers, the filter's shape over [0, 2].""",
        citation="He, Wei, Huang, Xu: BernNet: learning arbitrary graph spectral filters via Bernstein approximation. "
        "NeurIPS 2021",
        departures="The polynomials are evaluated in the Chebyshev basis: the same function with K products instead of O(K^2).",
    )

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        degree: int = 10,
        dropout: float = 0.5,
        filter_dropout: float = 0.5,
        variant: str = "faithful",
    ) -> None:
        super().__init__()
        check_variant("BernNet", variant)
        self._assemble_unified((in_channels, hidden_channels, out_channels), dropout, filter_dropout, degree=degree)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 10) -> SpectralConv:
        weights = BernsteinWeights(in_channels, out_channels, integer("BernNet", "degree", degree, 0) + 1)
        return SpectralConv(in_channels, out_channels, degree, paradigm=weights, basis="bernstein")
