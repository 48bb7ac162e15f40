"""ADC and GADC: graph convolutions that learn how far each channel diffuses."""

import itertools
import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import integer, one_of, real
from chebnet2d.conv import ExactBuffers, Paradigm, ParadigmIII, SpectralConv
from chebnet2d.graph import Graph, operator_of
from chebnet2d.kernels.diffused_product import diffused_product
from chebnet2d.kernels.kept_walk import can_keep_walk, kept_walk_product
from chebnet2d.models.decoupled import Decoupled, check_variant
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.project_first import project_first
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, Linear, check_features
from chebnet2d.nn.features import MaskedFeatures, pattern_of
from chebnet2d.polynomials import Monomial

_CITATION = "Zhao, Dong, Ding, Kharlamov, Tang: Adaptive diffusion in graph neural networks. NeurIPS 2021"
_DEPARTURES = (
    "The authors' code fits the diffusion on the validation loss, in a step of its own after that of the weights: "
    "t_on='validation'. The default here is the training loss, so that validation labels only select. The linear map is "
    "applied before the diffusion, which is the same function at the cost of the narrower side."
)


class Heat(ParadigmIII, ExactBuffers):
    """theta[k, c] = e^-t_c t_c^k / k!: the heat kernel of each channel, cut after the given number of terms, not rescaled."""

    inverse_factorials: Tensor

    def __init__(self, in_channels: int, out_channels: int, terms: int, start: float) -> None:
        super(ParadigmIII, self).__init__(in_channels, out_channels, terms)  # t is what is learned; there is no theta
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

    def __init__(self, conv: SpectralConv, out_channels: int) -> None:
        super().__init__()
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

    @staticmethod
    def convolution(in_channels: int, out_channels: int, *args: Any, **options: Any) -> SpectralConv:
        raise NotImplementedError

    def _build(self, sizes: tuple[int, int, int], dropouts: tuple[float, float], t_on: str, variant: str, **options: Any) -> None:
        owner = type(self).__name__
        if one_of(owner, "t_on", t_on, ("train", "validation")) == "validation":
            self.on_validation = frozenset({"diffusion"})
        self.variant = check_variant(owner, variant)
        if variant == "unified":
            self._assemble_unified(sizes, *dropouts, **options)
            return
        self.in_channels = sizes[0]
        self.layers = nn.ModuleList(
            DiffusionLayer(self.convolution(inputs, inputs, **options), outputs) for inputs, outputs in itertools.pairwise(sizes)
        )
        self.dropout = Dropout(dropouts[0])

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        if self.variant == "unified":
            return super().forward(x, edge_index, edge_weight)
        check_features(type(self).__name__, x, self.in_channels)
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
    info: ClassVar[MethodInfo] = MethodInfo(
        title="ADC",
        paradigm="III",
        basis="monomial of P~, heat kernel",
        formula="""Z = G_2(ReLU(G_1(X) W1 + b1)) W2 + b2,   G(h)[:, f] = sum_{k=0..K-1} e^-t_f t_f^k / k! P~^k h[:, f]
P~ = D~^-1/2 (A + I) D~^-1/2. t_f: learned time of channel f, unconstrained. K: terms.
unified: Z = G(h(X)) with the MLP h to C logits.""",
        citation=_CITATION,
        departures=_DEPARTURES,
    )

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        terms: int = 10,
        start: float = 3.0,
        dropout: float = 0.5,
        filter_dropout: float = 0.0,
        t_on: str = "train",
        variant: str = "faithful",
    ) -> None:
        super().__init__()
        sizes = (in_channels, hidden_channels, out_channels)
        self._build(sizes, (dropout, filter_dropout), t_on, variant, terms=terms, start=start)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, terms: int = 10, start: float = 3.0) -> SpectralConv:
        heat = Heat(in_channels, out_channels, integer("ADC", "terms", terms, 1), real("ADC", "start", start))
        return _walk(heat)


@register("gadc")
class GADC(_Diffusion):
    """ADC with any walk in the place of the heat kernel: for each input channel a learned distribution over steps.

    Args: as ``ADC``, which has ``start`` besides; here the walks start uniform over 0..terms - 1 steps.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        title="GADC",
        paradigm="III",
        basis="monomial of P~, convex combination",
        formula="""Z = G_2(ReLU(G_1(X) W1 + b1)) W2 + b2,   G(h)[:, f] = sum_{k=0..K-1} softmax_k(t_{k,f}) P~^k h[:, f]
P~ = D~^-1/2 (A + I) D~^-1/2. t: learned, one for each step and channel. K: terms.
unified: Z = G(h(X)) with the MLP h to C logits.""",
        citation=_CITATION,
        departures=_DEPARTURES,
    )

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        terms: int = 10,
        dropout: float = 0.5,
        filter_dropout: float = 0.0,
        t_on: str = "train",
        variant: str = "faithful",
    ) -> None:
        super().__init__()
        self._build((in_channels, hidden_channels, out_channels), (dropout, filter_dropout), t_on, variant, terms=terms)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, terms: int = 10) -> SpectralConv:
        return _walk(Mixture(in_channels, out_channels, integer("GADC", "terms", terms, 1)))


def _walk(shares: Paradigm) -> SpectralConv:
    return SpectralConv(
        shares.in_channels, shares.out_channels, shares.terms - 1, paradigm=shares, basis="monomial", operator="P~"
    )
