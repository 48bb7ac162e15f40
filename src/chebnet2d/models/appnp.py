"""APPNP: an MLP, then personalised PageRank."""

from typing import Any, ClassVar

from chebnet2d._checks import integer, real
from chebnet2d.conv import FixedFilter
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register


def pagerank_coefficients(alpha: float, steps: int) -> list[float]:
    """Of P~^k, k = 0..steps, in Z_K with Z_0 = H and Z_{k+1} = (1 - alpha) P~ Z_k + alpha H."""
    return [*(alpha * (1 - alpha) ** k for k in range(steps)), (1 - alpha) ** steps]


@register("appnp")
class APPNP(Decoupled):
    """Predict then propagate (Gasteiger et al. 2019): K steps of personalised PageRank on the logits of an MLP.

    The steps are one polynomial of P~ with known coefficients, so they run as one fixed filter; its filter dropout is 0.

    Args:
        steps: K.
        alpha: probability of the jump back.
        bias: biases in the MLP: True as in the code that later papers compare with, False as in the authors' own.
        variant: "faithful" and "unified" are the same here.
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"first": ("mlp.layers.0.",)}
    degree_argument: ClassVar[tuple[str, int] | None] = ("steps", 0)
    left_out = frozenset({"filter_dropout"})
    varies_in_stack = frozenset({"alpha", "dropout"})

    def _build(self, sizes: Sizes, *, bias: bool = True, **arguments: Any) -> None:
        super()._build(sizes, bias=bias, **arguments)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, steps: int = 10, alpha: float = 0.1) -> FixedFilter:
        integer("APPNP", "steps", steps, 0)
        real("APPNP", "alpha", alpha, 0, 1)
        return FixedFilter(pagerank_coefficients(alpha, steps))
