"""ChebNetII: Chebyshev interpolation of one filter; and ChebBase, its ablation with damped coefficients."""

from typing import Any

import torch
from torch import Tensor

from chebnet2d._checks import flag, integer, one_of, real
from chebnet2d.conv import ExactBuffers, Paradigm, ParadigmI, SpectralConv
from chebnet2d.graph import Graph
from chebnet2d.models.bernnet import NonNegativeI
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register
from chebnet2d.nn import MLP, Dropout, Features, Linear
from chebnet2d.polynomials import chebyshev_nodes

LAYOUTS = ("logits", "hidden", "first", "between")


class _FromSquares:
    """Start of the filter on hidden units: g(x) = x^2 at the nodes."""

    theta: Tensor

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        with torch.no_grad():
            self.theta.copy_(chebyshev_nodes(self.theta.numel() - 1) ** 2)


class SquareStart(_FromSquares, ParadigmI):
    pass


class NonNegativeSquareStart(_FromSquares, NonNegativeI):
    pass


@register("chebnetii")
class ChebNetII(Decoupled):
    """One filter by Chebyshev interpolation (He et al. 2022).

    Args:
        degree: K.
        dropout: before each linear layer; see ``layout`` for the exceptions.
        filter_dropout: before the filter.
        layout: what the filter acts on. "logits": MLP to C, then the filter (also the unified form). "hidden": Linear, ReLU,
            filter on the H hidden units, Linear (the repository's variant V, for Chameleon and Squirrel with few labels; it
            starts at g(x) = x^2). "first": filter on X, then the MLP without dropout of its input (ogbn, pokec, wiki).
            "between": MLP to H, filter, MLP to C (twitch-gamers).
        num_layers: linear layers of (each) MLP; "hidden" has two in any case.
        relu: non-negative values at the nodes; the code for non-homophilous graphs has it off.
        batch_norm: after each ReLU; dropout then follows it, and the input has none.
        operator: "L_hat", or "P~" as the authors' code has it on Penn94.
        variant: "faithful", or "unified": the filter on logits, ReLU on theta, L_hat and no batch norm, whatever the arguments
            for other graphs say.
    """

    def _build(self, sizes: Sizes, *, num_layers: int = 2, batch_norm: bool = False, **arguments: Any) -> None:
        self.batch_norm = flag("ChebNetII", "batch_norm", batch_norm)
        super()._build(sizes, num_layers=num_layers, **arguments)

    def _assemble_unified(self, *args: Any, layout: str = "", relu: bool = True, operator: str = "", **options: Any) -> None:
        super()._assemble_unified(*args, **options)

    def _assemble_faithful(
        self, sizes: Sizes, dropout: float, filter_dropout: float, *, num_layers: int = 2, layout: str = "logits", **options: Any
    ) -> None:
        in_channels, hidden_channels, out_channels = sizes
        self.layout = one_of("ChebNetII", "layout", layout, LAYOUTS)
        integer("ChebNetII", "num_layers", num_layers, 1)
        hidden = layout in ("hidden", "between") or (layout == "first" and num_layers > 1)
        channels = hidden_channels if hidden else out_channels
        conv = self.convolution(channels, channels, layout=layout, **options)

        def mlp(inputs: int, outputs: int, layers: int, input_dropout: float | None = None) -> MLP:
            first = 0.0 if self.batch_norm else input_dropout
            return MLP(inputs, hidden_channels, outputs, layers, dropout, input_dropout=first, batch_norm=self.batch_norm)

        if layout == "hidden":
            opening = mlp(in_channels, hidden_channels, 1)
        else:
            width = hidden_channels if layout == "between" else out_channels
            opening = mlp(in_channels, width, num_layers, 0.0 if layout == "first" else None)
        self._assemble(opening, filter_dropout, conv, in_channels)
        if layout == "hidden":
            self.dropout = Dropout(dropout)
            self.classifier = Linear(hidden_channels, out_channels)
        elif layout == "between":
            self.second_mlp = mlp(hidden_channels, out_channels, num_layers)

    @staticmethod
    def convolution(
        in_channels: int, out_channels: int, degree: int = 10, layout: str = "logits", relu: bool = True, operator: str = "L_hat"
    ) -> SpectralConv:
        one_of("ChebNetII", "operator", operator, ("L_hat", "P~"))
        integer("ChebNetII", "degree", degree, 0)
        kind: type[Paradigm] = NonNegativeI if flag("ChebNetII", "relu", relu) else ParadigmI
        if layout == "hidden":
            kind = NonNegativeSquareStart if relu else SquareStart
        paradigm = kind(in_channels, out_channels, degree + 1)
        return SpectralConv(in_channels, out_channels, degree, paradigm=paradigm, scaling="interpolation", operator=operator)

    def _faithful(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        if self.layout == "logits":
            return self._unified(x, edge_index, edge_weight)
        if self.layout == "first":
            return self._filter_first(x, edge_index, edge_weight)
        hidden = self.conv(self.signal(x), edge_index, edge_weight)
        logits: Tensor = self.classifier(self.dropout(hidden)) if self.layout == "hidden" else self.second_mlp(hidden)
        return logits

    def signal(self, x: Features) -> Tensor:
        if self.variant == "unified" or self.layout != "hidden":
            return super().signal(x)
        hidden: Tensor = self.filter_dropout(self.mlp(x).relu())
        return hidden

    def linear_end(self) -> tuple[Tensor, Tensor] | None:
        if self.variant == "unified" or self.layout == "logits":
            return self._no_end()
        if self.layout != "hidden":
            return None
        assert self.classifier.bias is not None
        return self.classifier.weight, self.classifier.bias

    def _filter_first(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        assert isinstance(self.mlp, MLP)
        layer = self.mlp.layers[0]
        assert isinstance(layer, Linear)
        assert layer.bias is not None
        filtered: Tensor = self.conv(self.filter_dropout(x) @ layer.weight, edge_index, edge_weight)
        return self.mlp.rest(filtered + layer.bias)


class DampedI(ParadigmI, ExactBuffers):
    """Coefficients theta_k / k^q for k >= 1: smooth functions have coefficients that fall like this."""

    damping: Tensor

    def __init__(self, in_channels: int, out_channels: int, terms: int, q: float) -> None:
        super().__init__(in_channels, out_channels, terms)
        self.register_exact("damping", torch.arange(terms, dtype=torch.float64).clamp(min=1) ** -q)

    def coefficients(self) -> Tensor:
        return self.theta * self.damping


@register("chebbase")
class ChebBase(Decoupled):
    """A Chebyshev filter with free, damped coefficients on the logits of an MLP (He et al. 2022, the ablation ChebBase/k)."""

    left_out = frozenset({"variant"})
    varies_in_stack = frozenset({"dropout", "filter_dropout", "q"})

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 10, q: float = 1.0) -> SpectralConv:
        integer("ChebBase", "degree", degree, 0)
        weights = DampedI(in_channels, out_channels, degree + 1, real("ChebBase", "q", q, 0))
        return SpectralConv(in_channels, out_channels, degree, paradigm=weights)
