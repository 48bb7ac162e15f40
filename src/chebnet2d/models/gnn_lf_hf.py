"""GNN-LF and GNN-HF: propagation that minimises a low-pass or a high-pass objective."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from chebnet2d._checks import integer, one_of, real
from chebnet2d.conv import FixedFilter
from chebnet2d.models.decoupled import Decoupled, check_variant, two_layer_mlp
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

    def _build(self, start: tuple[float, float], step: float) -> None:
        """Z_0 = (start[0] + start[1] P~) H, then ``steps`` times Z <- step P~ Z + alpha Z_0."""
        owner, config = type(self).__name__, self.config
        alpha, steps, bias = config["alpha"], config["steps"], check_variant(owner, config["variant"]) == "unified"
        integer(owner, "steps", steps, 0)
        if one_of(owner, "form", config["form"], FORMS) == "closed":
            conv = FixedFilter.of_function(_fixed_point(alpha, start, step))
        else:
            # sum_{j < T} alpha step^j P~^j + step^T P~^T, times start[0] + start[1] P~.
            walk = np.array([*(alpha * step**j for j in range(steps)), step**steps])
            conv = FixedFilter(np.convolve(walk, start))
        sizes = (config["in_channels"], config["hidden_channels"], config["out_channels"])
        self._frame(two_layer_mlp(*sizes, config["dropout"], bias=bias), 0.0, conv, sizes[0])


def _fixed_point(alpha: float, start: tuple[float, float], step: float) -> Callable[[np.ndarray], np.ndarray]:
    # Z = step P~ Z + alpha Z_0, solved for Z: the paper's closed form, divided by s above and below.
    return lambda x: alpha * (start[0] + start[1] * x) / (1 - step * x)


@register("gnn-lf")
class GNNLF(_Propagation):
    """GNN-LF (Zhu et al. 2021): low-pass filtering, then propagation.

    Args:
        alpha, mu: of the objective; alpha in (0, 1), mu in [1/2, 1).
        form: "iterative" (``steps`` steps) or "closed" (the fixed point).
        variant: "faithful" has no biases in the MLP, "unified" has.
    """

    free: ClassVar[frozenset[str]] = frozenset({"alpha", "dropout", "mu"})
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
        alpha, mu = real("GNNLF", "alpha", alpha, 1e-3, 1, below=True), real("GNNLF", "mu", mu, 0, 1, below=True)
        s = 1 + alpha * mu - alpha
        self._build((mu / s, (1 - mu) / s), (1 - 2 * alpha + alpha * mu) / s)


@register("gnn-hf")
class GNNHF(_Propagation):
    """GNN-HF (Zhu et al. 2021): high-pass filtering, then propagation.

    Args:
        alpha, beta: of the objective; alpha in (0, 1), beta >= 0.
        form: "iterative" (``steps`` steps) or "closed" (the fixed point).
        variant: "faithful" has no biases in the MLP, "unified" has.
    """

    free: ClassVar[frozenset[str]] = frozenset({"alpha", "beta", "dropout"})
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
        alpha, beta = real("GNNHF", "alpha", alpha, 1e-3, 1, below=True), real("GNNHF", "beta", beta, 0)
        s = alpha * beta + 1
        self._build(((1 + beta) / s, -beta / s), (alpha * beta + 1 - alpha) / s)
