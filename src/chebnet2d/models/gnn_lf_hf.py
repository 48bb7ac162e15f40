"""GNN-LF and GNN-HF: propagation that minimises a low-pass or a high-pass objective."""

from typing import Any, ClassVar

import numpy as np

from chebnet2d._checks import integer, one_of, real
from chebnet2d.conv import FixedFilter
from chebnet2d.models.decoupled import Decoupled, check_variant
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.registry import register

FORMS = ("iterative", "closed")
_CITATION = "Zhu, Wang, Shi, Ji, Cui: Interpreting and unifying graph neural networks with an optimization framework. WWW 2021"
_DEPARTURES = (
    "The closed form is its Chebyshev series down to rounding, not a dense N x N inverse: the same numbers, O(E) work. "
    "The penalty (lambda / 2) |W1|^2 of the authors' code is the weight decay of the optimiser group 'first'."
)


class _Propagation(Decoupled):
    """What the two share: Z = g(P~) h(X), with g given by its fixed point or by the iteration that leads to it."""

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"first": ("mlp.layers.0.",)}

    degree_argument: ClassVar[tuple[str, int] | None] = ("steps", -1)

    def _build(self, **options: Any) -> None:
        config = self.config
        sizes = (config["in_channels"], config["hidden_channels"], config["out_channels"])
        bias = check_variant(type(self).__name__, config["variant"]) == "unified"
        own = {name: config[name] for name in ("steps", "alpha", "form")}
        self._assemble_unified(sizes, config["dropout"], 0.0, bias=bias, **own, **options)


def _propagation(owner: str, form: str, steps: int, alpha: float, start: tuple[float, float], step: float) -> FixedFilter:
    """Z_0 = (start[0] + start[1] P~) H, then ``steps`` times Z <- step P~ Z + alpha Z_0; or the fixed point of that."""
    integer(owner, "steps", steps, 0)
    if one_of(owner, "form", form, FORMS) == "closed":
        # Z = step P~ Z + alpha Z_0, solved for Z: the paper's closed form, divided by s above and below.
        return FixedFilter.of_function(lambda x: alpha * (start[0] + start[1] * x) / (1 - step * x))
    # sum_{j < T} alpha step^j P~^j + step^T P~^T, times start[0] + start[1] P~.
    walk = np.array([*(alpha * step**j for j in range(steps)), step**steps])
    return FixedFilter(np.convolve(walk, start))


@register("gnn-lf")
class GNNLF(_Propagation):
    """GNN-LF (Zhu et al. 2021): low-pass filtering, then propagation.

    Args:
        alpha, mu: of the objective; alpha in (0, 1), mu in [1/2, 1).
        form: "iterative" (``steps`` steps) or "closed" (the fixed point).
        variant: "faithful" has no biases in the MLP, "unified" has.
    """

    varies_in_stack = frozenset({"alpha", "dropout", "mu"})
    info: ClassVar[MethodInfo] = MethodInfo(
        title="GNN-LF",
        paradigm="I",
        basis="monomial of P~, fixed coefficients (closed: rational)",
        formula="""s = 1 + alpha mu - alpha,   Z_0 = (mu / s) H + ((1 - mu) / s) P~ H
Z_{k+1} = ((1 - 2 alpha + alpha mu) / s) P~ Z_k + alpha Z_0,   Z = Z_T
closed: Z = alpha {(1 + alpha mu - alpha) I + (2 alpha - alpha mu - 1) P~}^-1 (mu I + (1 - mu) P~) H
H = h(X): MLP to C logits. P~ = D~^-1/2 (A + I) D~^-1/2. T: steps.""",
        citation=_CITATION,
        departures=_DEPARTURES,
    )

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        steps: int = 10,
        alpha: float = 0.1,
        mu: float = 0.9,
        dropout: float = 0.5,
        form: str = "iterative",
        variant: str = "faithful",
    ) -> None:
        super().__init__()
        self._build(mu=mu)

    @staticmethod
    def convolution(
        in_channels: int, out_channels: int, steps: int = 10, alpha: float = 0.1, mu: float = 0.9, form: str = "iterative"
    ) -> FixedFilter:
        alpha, mu = real("GNNLF", "alpha", alpha, 1e-3, 1, below=True), real("GNNLF", "mu", mu, 0, 1, below=True)
        s = 1 + alpha * mu - alpha
        return _propagation("GNNLF", form, steps, alpha, (mu / s, (1 - mu) / s), (1 - 2 * alpha + alpha * mu) / s)


@register("gnn-hf")
class GNNHF(_Propagation):
    """GNN-HF (Zhu et al. 2021): high-pass filtering, then propagation.

    Args:
        alpha, beta: of the objective; alpha in (0, 1), beta >= 0.
        form: "iterative" (``steps`` steps) or "closed" (the fixed point).
        variant: "faithful" has no biases in the MLP, "unified" has.
    """

    varies_in_stack = frozenset({"alpha", "beta", "dropout"})
    info: ClassVar[MethodInfo] = MethodInfo(
        title="GNN-HF",
        paradigm="I",
        basis="monomial of P~, fixed coefficients (closed: rational)",
        formula="""s = alpha beta + 1,   Z_0 = (1 / s) H + (beta / s) (I - P~) H
Z_{k+1} = ((alpha beta + 1 - alpha) / s) P~ Z_k + alpha Z_0,   Z = Z_T
closed: Z = alpha {alpha I + (alpha beta + 1 - alpha)(I - P~)}^-1 (I + beta (I - P~)) H
H = h(X): MLP to C logits. P~ = D~^-1/2 (A + I) D~^-1/2. T: steps.""",
        citation=_CITATION,
        departures=_DEPARTURES,
    )

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        steps: int = 10,
        alpha: float = 0.1,
        beta: float = 0.9,
        dropout: float = 0.5,
        form: str = "iterative",
        variant: str = "faithful",
    ) -> None:
        super().__init__()
        self._build(beta=beta)

    @staticmethod
    def convolution(
        in_channels: int, out_channels: int, steps: int = 10, alpha: float = 0.1, beta: float = 0.9, form: str = "iterative"
    ) -> FixedFilter:
        alpha, beta = real("GNNHF", "alpha", alpha, 1e-3, 1, below=True), real("GNNHF", "beta", beta, 0)
        s = alpha * beta + 1
        return _propagation("GNNHF", form, steps, alpha, ((1 + beta) / s, -beta / s), (alpha * beta + 1 - alpha) / s)
