"""GPRGNN: PageRank with learned weights of the steps."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from chebnet2d._checks import integer, one_of, real
from chebnet2d.conv import ParadigmI, SpectralConv
from chebnet2d.models.appnp import pagerank_coefficients
from chebnet2d.models.decoupled import Decoupled
from chebnet2d.models.registry import register

GAMMA_INITS = ("ppr", "nppr", "sgc", "random")


class PageRankWeights(ParadigmI):
    """One weight per step, started from a walk."""

    def __init__(self, in_channels: int, out_channels: int, terms: int, start: str, alpha: float) -> None:
        super().__init__(in_channels, out_channels, terms)
        self.start, self.alpha = start, alpha

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        with torch.no_grad():
            self.theta.copy_(self._start())

    def _start(self) -> Tensor:
        steps = self.terms - 1
        if self.start == "ppr":
            return torch.tensor(pagerank_coefficients(self.alpha, steps))
        if self.start == "sgc":
            return torch.eye(self.terms)[int(self.alpha)]
        if self.start == "nppr":
            weights = self.alpha ** torch.arange(self.terms, dtype=torch.float64)
        else:
            bound = (3 / self.terms) ** 0.5
            weights = torch.empty(self.terms).uniform_(-bound, bound)
        return weights / weights.abs().sum()


@register("gprgnn")
class GPRGNN(Decoupled):
    """Generalised PageRank (Chien et al. 2021): a polynomial of P~ with free coefficients on the logits of an MLP.

    Args:
        degree: K.
        alpha: of the start. "ppr": gamma_k = alpha (1 - alpha)^k, the last (1 - alpha)^K. "nppr": alpha^k. "sgc": all weight on
            step alpha, an integer. "random": uniform. The last three have |gamma|_1 = 1.
        filter_dropout: on the logits before the filter.
        variant: "faithful" and "unified" are the same here.

    The tuned settings have no weight decay on gamma (group "filter").
    """

    defaults: ClassVar[dict[str, Any]] = {"filter_dropout": 0.5}
    varies_in_stack = frozenset({"alpha", "dropout", "filter_dropout", "init"})

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 10, alpha: float = 0.1, init: str = "ppr") -> SpectralConv:
        one_of("GPRGNN", "init", init, GAMMA_INITS)
        integer("GPRGNN", "degree", degree, 0)
        if init == "sgc":
            integer("GPRGNN", "alpha", int(alpha) if float(alpha).is_integer() else alpha, 0, degree)
        else:
            real("GPRGNN", "alpha", alpha, 0, 1)
        weights = PageRankWeights(in_channels, out_channels, degree + 1, init, alpha)
        return SpectralConv(in_channels, out_channels, degree, paradigm=weights, basis="monomial", operator="P~")
