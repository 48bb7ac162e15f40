"""BernNet: a filter that is non-negative by construction."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from chebnet2d._checks import integer
from chebnet2d.conv import ParadigmI, SpectralConv
from chebnet2d.models.decoupled import Decoupled
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

    defaults: ClassVar[dict[str, Any]] = {"filter_dropout": 0.5}

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 10) -> SpectralConv:
        weights = BernsteinWeights(in_channels, out_channels, integer("BernNet", "degree", degree, 0) + 1)
        return SpectralConv(in_channels, out_channels, degree, paradigm=weights, basis="bernstein")
