"""APPNP: an MLP, then personalised PageRank."""

from typing import ClassVar

from chebnet2d._checks import integer, real
from chebnet2d.conv import FixedFilter
from chebnet2d.models.decoupled import Decoupled, check_variant
from chebnet2d.models.info import MethodInfo
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
    varies_in_stack = frozenset({"alpha", "dropout"})
    info: ClassVar[MethodInfo] = MethodInfo(
        title="APPNP",
        paradigm="I",
        basis="monomial of P~, fixed coefficients",
        formula="""Z_0 = H = h(X),   Z_{k+1} = (1 - alpha) P~ Z_k + alpha H,   Z = Z_K
h: MLP to C logits. P~ = D~^-1/2 (A + I) D~^-1/2, D~ the degrees of A + I. alpha: jump back. K: steps.""",
        citation="Gasteiger, Bojchevski, Günnemann: Predict then propagate: graph neural networks meet personalized PageRank. "
        "ICLR 2019",
        departures="Dropout on the edges, which the authors' code has and its common re-implementation has not, is left out.",
    )

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        steps: int = 10,
        alpha: float = 0.1,
        dropout: float = 0.5,
        bias: bool = True,
        variant: str = "faithful",
    ) -> None:
        super().__init__()
        check_variant("APPNP", variant)
        sizes = (in_channels, hidden_channels, out_channels)
        self._assemble_unified(sizes, dropout, 0.0, bias=bias, steps=steps, alpha=alpha)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, steps: int = 10, alpha: float = 0.1) -> FixedFilter:
        integer("APPNP", "steps", steps, 0)
        real("APPNP", "alpha", alpha, 0, 1)
        return FixedFilter(pagerank_coefficients(alpha, steps))
