"""JacobiConv: a linear network with Jacobi polynomials, one filter per class."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import flag, integer, one_of, real
from chebnet2d.conv import ExactBuffers, ParadigmIII, SpectralConv
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Linear
from chebnet2d.polynomials import Basis, Bernstein, Jacobi, Legendre, Monomial, ThreeTermBasis


@dataclass(frozen=True)
class PublishedJacobi(Jacobi):
    """The recurrence of the authors' code: for k >= 2 the term with a^2 - b^2 has the wrong sign. Right where a^2 = b^2."""

    name: ClassVar[str] = "jacobi-published"

    def step(self, k: int) -> tuple[float, float, float]:
        slope, shift, previous = super().step(k)
        return slope, shift if k == 1 else -shift, previous


@dataclass(frozen=True)
class ChebyshevSecond(ThreeTermBasis):
    """Second kind, U_k: what the authors' code computes under the name of Chebyshev."""

    name: ClassVar[str] = "chebyshev-second"

    def step(self, k: int) -> tuple[float, float, float]:
        return 2.0, 0.0, 0.0 if k == 1 else -1.0


OTHER_BASES: dict[str, Basis] = {
    "legendre": Legendre(),
    "chebyshev": ChebyshevSecond(),
    "monomial": Monomial(),
    "bernstein": Bernstein(),
}


class DecomposedIII(ParadigmIII, ExactBuffers):
    """theta[k, c] = w[k, c] * prod_{j=1..k} a_j, a_j = alpha tanh(eta_j): the polynomial coefficient decomposition (PCD).

    The factors a_j are shared by the channels. Scaling the recurrence by a_j, as the authors' code does, scales p_k by their
    product, so they can as well be part of the coefficients. Without ``alpha`` there are no factors. ``shared``: one w for all
    channels.
    """

    alpha: Tensor

    def __init__(self, in_channels: int, out_channels: int, terms: int, alpha: float | None, shared: bool) -> None:
        super().__init__(in_channels, out_channels, terms)
        self.decomposed = alpha is not None
        if shared:
            self.theta = nn.Parameter(torch.empty(terms, 1))
        if alpha is not None:
            self.register_exact("alpha", torch.tensor(alpha, dtype=torch.float64))
            self.eta = nn.Parameter(torch.empty(terms - 1))

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        nn.init.ones_(self.theta)
        if self.decomposed:
            nn.init.constant_(self.eta, min(1 / float(self.alpha), 1.0))

    def coefficients(self) -> Tensor:
        weights = self.theta.expand(-1, self.in_channels)
        if not self.decomposed:
            return weights
        factors = torch.cat([self.eta.new_ones(1), self.alpha * self.eta.tanh()])
        return weights * factors.cumprod(0).unsqueeze(1)


@register("jacobiconv")
class JacobiConv(Decoupled):
    """Linear map to the classes, then one Jacobi filter for each of them (Wang, Zhang 2022).

    Args:
        degree: K.
        a, b: of the Jacobi weight (1 - x)^a (1 + x)^b.
        alpha: scale of the factors a_k; their start is alpha tanh(min(1 / alpha, 1)).
        dropout: on X. filter_dropout: on the logits before the filter.
        basis: "jacobi", or one of the other bases of the authors' code: "legendre", "chebyshev" (of the second kind, as their
            code has it), "monomial", "bernstein" (no factors a_k).
        sign: "published" (the recurrence of the authors' code, to which its tuned a and b belong) or "correct" (the true one).
        shared: one filter for all classes.
        variant: "faithful" (linear, as published), or "unified": the MLP to C logits in the place of the linear map.

    Optimiser groups: "filter" (w) and "scale" (eta).
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"scale": ("conv.paradigm.eta",), "filter": ("conv.paradigm.theta",)}
    defaults: ClassVar[dict[str, Any]] = {"filter_dropout": 0.5}
    varies_in_stack = frozenset({"a", "alpha", "b", "dropout", "filter_dropout", "sign"})

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        in_channels, _, out_channels = sizes
        linear = nn.Sequential(Dropout(dropout), Linear(in_channels, out_channels))
        self._assemble(linear, filter_dropout, self.convolution(out_channels, out_channels, **options), in_channels)

    @staticmethod
    def convolution(
        in_channels: int,
        out_channels: int,
        degree: int = 10,
        a: float = 1.0,
        b: float = 1.0,
        alpha: float = 1.0,
        basis: str = "jacobi",
        sign: str = "published",
        shared: bool = False,
    ) -> SpectralConv:
        integer("JacobiConv", "degree", degree, 0)
        real("JacobiConv", "alpha", alpha, 1e-6)
        one_of("JacobiConv", "sign", sign, ("published", "correct"))
        one_of("JacobiConv", "basis", basis, ("jacobi", *OTHER_BASES))
        jacobi = PublishedJacobi if sign == "published" else Jacobi
        chosen = OTHER_BASES[basis] if basis in OTHER_BASES else jacobi(a, b)
        scale = None if basis == "bernstein" else alpha
        paradigm = DecomposedIII(in_channels, out_channels, degree + 1, scale, flag("JacobiConv", "shared", shared))
        # Bernstein polynomials are in terms of L, the others of P.
        kind = "L_hat" if basis == "bernstein" else "P"
        return SpectralConv(in_channels, out_channels, degree, paradigm=paradigm, basis=chosen, operator=kind)
