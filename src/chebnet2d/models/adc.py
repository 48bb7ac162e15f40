"""ADC and GADC: graph convolutions that learn how far each channel diffuses."""

import itertools
import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import integer, one_of, real
from chebnet2d.conv import ExactBuffers, Paradigm, ParadigmIII, PolynomialConv, SpectralConv
from chebnet2d.graph import Graph, operator_of
from chebnet2d.kernels.diffused_product import diffused_product
from chebnet2d.kernels.kept_walk import can_keep_walk, kept_walk_product
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.project_first import project_first
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, Linear
from chebnet2d.nn.features import MaskedFeatures, pattern_of
from chebnet2d.polynomials import Monomial


class Heat(ParadigmIII, ExactBuffers):
    """theta[k, c] = e^-t_c t_c^k / k!: the heat kernel of each channel, cut after the given number of terms, not rescaled."""

    indices: ClassVar[str] = ""  # t is what is learned; there is no theta
    inverse_factorials: Tensor

    def __init__(self, in_channels: int, out_channels: int, terms: int, start: float) -> None:
        super().__init__(in_channels, out_channels, terms)
        self.start = start
        self.t = nn.Parameter(torch.empty(in_channels))
        factorials = torch.tensor([float(math.factorial(k)) for k in range(terms)], dtype=torch.float64)
        self.register_exact("inverse_factorials", 1 / factorials)

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        nn.init.constant_(self.t, self.start)

    def coefficients(self) -> Tensor:
        orders = torch.arange(self.terms, dtype=self.t.dtype, device=self.t.device)
        return torch.exp(-self.t) * self.t ** orders.unsqueeze(1) * self.inverse_factorials.unsqueeze(1)


class Mixture(ParadigmIII):
    """theta[k, c] = softmax over k of free numbers: any walk of at most that many steps for each channel."""

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        nn.init.zeros_(self.theta)

    def coefficients(self) -> Tensor:
        return self.theta.softmax(dim=0)


class DiffusionLayer(nn.Module):
    """Diffusion of every input channel, then a linear map."""

    def __init__(self, conv: PolynomialConv, out_channels: int) -> None:
        super().__init__()
        assert isinstance(conv, SpectralConv)
        self.diffusion = conv.paradigm
        self.linear = Linear(conv.in_channels, out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.diffusion.reset_parameters("identity", torch.zeros(0))
        self.linear.reset_parameters()

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None, *, fixed: bool = False) -> Tensor:
        """``fixed``: x is the same tensor in every call."""
        operator = operator_of(edge_index, edge_weight, pattern_of(x), kind="P~", owner="ADC")
        shares = self.diffusion.coefficients()
        weight, bias = self.linear.weight, self.linear.bias
        if fixed and can_keep_walk(x, self.diffusion.terms):
            z = kept_walk_product(operator, x, shares, weight)
        elif isinstance(x, MaskedFeatures):
            z = project_first(operator, x, lambda k: shares[k].unsqueeze(1) * weight, self.diffusion.terms - 1, Monomial())
        else:
            z = diffused_product(operator, x, shares, weight)
        return z if bias is None else z + bias


class _Diffusion(Decoupled):
    """What ADC and GADC share: two diffusion layers, or one diffusion on the logits of an MLP."""

    groups: ClassVar[dict[str, tuple[str, ...]]] = {
        "diffusion": ("layers.0.diffusion.", "layers.1.diffusion.", "conv."),
        "first": ("layers.0.linear.", "mlp.layers.0."),
    }

    degree_argument: ClassVar[tuple[str, int] | None] = ("terms", 1)

    def _build(self, sizes: Sizes, *, t_on: str = "train", **arguments: Any) -> None:
        super()._build(sizes, **arguments)
        if one_of(type(self).__name__, "t_on", t_on, ("train", "validation")) == "validation":
            self.on_validation = frozenset({"diffusion"})

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        self.layers = nn.ModuleList(
            DiffusionLayer(self.convolution(inputs, inputs, **options), outputs) for inputs, outputs in itertools.pairwise(sizes)
        )
        self.dropout = Dropout(dropout)

    def _faithful(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        hidden: Tensor = self.layers[0](x, edge_index, edge_weight, fixed=True)
        logits: Tensor = self.layers[1](self.dropout(hidden.relu()), edge_index, edge_weight)
        return logits


@register("adc")
class ADC(_Diffusion):
    """Two layers of heat diffusion with a learned time for each input channel, each followed by a linear map (Zhao et al. 2021).

    Args:
        terms: of the heat kernel's series.
        start: of every t.
        dropout: between the layers (faithful), before each linear layer (unified).
        t_on: what t is fitted on: "train", or "validation" as in the authors' code, which then selects by what it has fitted.
        variant: "faithful", or "unified": the MLP to C logits, then one diffusion.

    Optimiser groups: "diffusion" (t) and "first" (the first linear layer: the only one with weight decay in the tuned settings).
    """

    varies_in_stack = frozenset({"dropout", "filter_dropout", "start"})

    @staticmethod
    def convolution(in_channels: int, out_channels: int, terms: int = 10, start: float = 3.0) -> SpectralConv:
        return _walk(Heat(in_channels, out_channels, integer("ADC", "terms", terms, 1), real("ADC", "start", start)))


@register("gadc")
class GADC(_Diffusion):
    """ADC with any walk in the place of the heat kernel: for each input channel a learned distribution over steps.

    Args: as ``ADC``, which has ``start`` besides; here the walks start uniform over 0..terms - 1 steps.
    """

    @staticmethod
    def convolution(in_channels: int, out_channels: int, terms: int = 10) -> SpectralConv:
        return _walk(Mixture(in_channels, out_channels, integer("GADC", "terms", terms, 1)))


def _walk(shares: Paradigm) -> SpectralConv:
    return SpectralConv(
        shares.in_channels, shares.out_channels, shares.terms - 1, paradigm=shares, basis="monomial", operator="P~"
    )
