"""One architecture in which the paradigms differ by one word: an MLP, and a Chebyshev filter that starts as the identity."""

from typing import Any, ClassVar

from chebnet2d._checks import one_of
from chebnet2d.conv import SpectralConv
from chebnet2d.models.decoupled import Sizes
from chebnet2d.models.optbasis import HiddenFilter
from chebnet2d.models.registry import register

COUPLINGS = ("I", "II", "III", "2d", "rank")
PARAMETRISATIONS = {"values": "interpolation", "coefficients": "coefficients"}
PLACES = ("logits", "hidden")


@register("one-filter")
class OneFilter(HiddenFilter):
    """The model of ``mlp`` with a filter in it. At the start the filter is 1, so every coupling starts as that MLP.

    Args:
        coupling: which indices the coefficients have: "I", "II", "III", "2d" or "rank" (see ``chebnet2d.conv.paradigms``).
        place: what the filter acts on: the C "logits" of the MLP, or its H "hidden" units, after which a linear map to the
            classes follows.
        parametrisation: what is learned: the "values" of the filters at the Chebyshev nodes, or their "coefficients". With "2d"
            on logits the first is ChebNet2D, the second the ChebConv of Defferrard et al. 2016 after an MLP.
        degree: D.
        rank: r, for "rank".
        dropout: before both linear layers. filter_dropout: before the filter.
    """

    left_out: ClassVar[frozenset[str]] = frozenset({"variant"})
    defaults: ClassVar[dict[str, Any]] = {"filter_dropout": 0.0}

    def _build(self, sizes: Sizes, *, place: str = "logits", **arguments: Any) -> None:
        one_of("OneFilter", "place", place, PLACES)
        super()._build(sizes, variant="unified" if place == "logits" else "faithful", **arguments)

    @staticmethod
    def convolution(
        in_channels: int,
        out_channels: int,
        degree: int = 10,
        coupling: str = "2d",
        parametrisation: str = "values",
        rank: int = 2,
    ) -> SpectralConv:
        one_of("OneFilter", "coupling", coupling, COUPLINGS)
        scaling = PARAMETRISATIONS[one_of("OneFilter", "parametrisation", parametrisation, tuple(PARAMETRISATIONS))]
        given = rank if coupling == "rank" else None
        return SpectralConv(in_channels, out_channels, degree, paradigm=coupling, rank=given, scaling=scaling)
