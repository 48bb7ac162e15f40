"""GNN-LF and GNN-HF: propagation that minimises a low-pass or a high-pass objective."""

from typing import Any, ClassVar

import numpy as np

from chebnet2d._checks import integer, one_of, real
from chebnet2d.conv import FixedFilter
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register

FORMS = ("iterative", "closed")


class _Propagation(Decoupled):
    """What the two share: Z = g(P~) h(X), with g given by its fixed point or by the iteration that leads to it."""

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"first": ("mlp.layers.0.",)}
    degree_argument: ClassVar[tuple[str, int] | None] = ("steps", -1)
    left_out = frozenset({"filter_dropout"})

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        self._assemble_unified(sizes, dropout, filter_dropout, bias=False, **options)


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

    @staticmethod
    def convolution(
        in_channels: int, out_channels: int, steps: int = 10, alpha: float = 0.1, beta: float = 0.9, form: str = "iterative"
    ) -> FixedFilter:
        alpha, beta = real("GNNHF", "alpha", alpha, 1e-3, 1, below=True), real("GNNHF", "beta", beta, 0)
        s = alpha * beta + 1
        return _propagation("GNNHF", form, steps, alpha, ((1 + beta) / s, -beta / s), (alpha * beta + 1 - alpha) / s)
