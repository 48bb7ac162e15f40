"""The frame that most spectral methods share: an MLP on the features, then one convolution on its output."""

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import one_of
from chebnet2d.conv import PolynomialConv
from chebnet2d.graph import Graph
from chebnet2d.models.filtering import Filtering
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import VARIANTS
from chebnet2d.nn import MLP, Dropout, Features, check_features

Sizes = tuple[int, int, int]  # F, H and C: features, hidden channels, classes


class Decoupled(NodeClassifier, Filtering):
    """Z = conv(dropout(h(X))). A subclass states its convolution once, and that serves its published form, the unified
    architecture and bases on disk (``chebnet2d.models.on_bases``).

    The constructor follows from that, unless the class has its own: ``in_channels``, ``out_channels``, ``hidden_channels``, the
    options of ``convolution`` and the arguments of ``_build``, by name. ``defaults`` replaces some of their defaults;
    ``left_out`` are arguments of ``_build`` that the constructor has not. A ``_build`` may add arguments to that of its parent.

    A method whose published form is not the unified one has an ``_assemble_faithful`` and, where that is no MLP and convolution,
    a ``_faithful``.

    ``maps_channels``: whether the convolution may have more or fewer outputs than inputs.
    ``degree_argument``: the option of ``convolution`` that sets the degree of the polynomial, and how much larger it is than the
    degree; None where the degree follows from other options.
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"filter": ("conv.",)}
    maps_channels: ClassVar[bool] = False
    degree_argument: ClassVar[tuple[str, int] | None] = ("degree", 0)
    defaults: ClassVar[dict[str, Any]] = {}
    left_out: ClassVar[frozenset[str]] = frozenset()
    variant: str = "unified"
    _own_constructor: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        cls._own_constructor = cls._own_constructor or "__init__" in vars(cls)
        if not cls._own_constructor:
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        super().__init_subclass__(**options)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, *args: Any, **options: Any) -> PolynomialConv:
        """The method's convolution."""
        raise NotImplementedError

    def _build(
        self, sizes: Sizes, *, dropout: float = 0.5, filter_dropout: float = 0.0, variant: str = "faithful", **options: Any
    ) -> None:
        """What the constructor does. ``options``: those of the convolution."""
        self.in_channels = sizes[0]
        self.variant = one_of(type(self).__name__, "variant", variant, VARIANTS)
        assemble = self._assemble_unified if variant == "unified" else self._assemble_faithful
        assemble(sizes, dropout, filter_dropout, **options)

    def _assemble(self, mlp: nn.Module, filter_dropout: float, conv: PolynomialConv, in_channels: int) -> None:
        self.in_channels = in_channels
        self.mlp = mlp
        self.filter_dropout = Dropout(filter_dropout)
        self.conv = conv

    def _assemble_unified(
        self, sizes: Sizes, dropout: float, filter_dropout: float, *, bias: bool = True, num_layers: int = 2, **options: Any
    ) -> None:
        """The MLP from F over H to C channels, then the convolution on them and nothing else."""
        in_channels, hidden_channels, out_channels = sizes
        mlp = MLP(in_channels, hidden_channels, out_channels, num_layers, dropout, bias=bias)
        self._assemble(mlp, filter_dropout, self.convolution(out_channels, out_channels, **options), in_channels)

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        self._assemble_unified(sizes, dropout, filter_dropout, **options)

    def signal(self, x: Features) -> Tensor:
        """What the convolution takes: N x C."""
        hidden: Tensor = self.filter_dropout(self.mlp(x))
        return hidden

    def linear_end(self) -> tuple[Tensor, Tensor] | None:
        """A and b, if the logits are Z A + b for Z the output of the convolution; None if more follows it."""
        changed = self.variant == "faithful" and type(self)._faithful is not Decoupled._faithful
        return None if changed else self._no_end()

    @property
    def channels_are_classes(self) -> bool:
        end = self.linear_end()
        return end is not None and end[0].shape[0] == end[0].shape[1] and bool((end[0] == torch.eye(len(end[0]))).all())

    @property
    def rows_and_columns(self) -> tuple[str, str]:
        return "channel", "class" if self.channels_are_classes else "channel"

    def _no_end(self) -> tuple[Tensor, Tensor]:
        like = next(self.parameters())
        classes = self.config["out_channels"]
        return torch.eye(classes, dtype=like.dtype, device=like.device), like.new_zeros(classes)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features(type(self).__name__, x, self.in_channels)
        run = self._unified if self.variant == "unified" else self._faithful
        return run(x, edge_index, edge_weight)

    def _unified(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        logits: Tensor = self.conv(self.signal(x), edge_index, edge_weight)
        return logits

    def _faithful(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        return self._unified(x, edge_index, edge_weight)


def _constructor(cls: type[Decoupled]) -> Callable[..., None]:
    def construct(self: Decoupled, in_channels: int, out_channels: int, hidden_channels: int, **arguments: Any) -> None:
        super(Decoupled, self).__init__()
        self._build((in_channels, hidden_channels, out_channels), **arguments)

    parameters = {name: Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", "in_channels", "out_channels")}
    hidden = cls.defaults.get("hidden_channels", 64)
    parameters["hidden_channels"] = Parameter("hidden_channels", Parameter.POSITIONAL_OR_KEYWORD, default=hidden)
    for function in (cls.convolution, *(vars(kind)["_build"] for kind in reversed(cls.__mro__) if "_build" in vars(kind))):
        for name, parameter in list(inspect.signature(function).parameters.items())[2:]:
            if parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) and name not in cls.left_out:
                default = cls.defaults.get(name, parameter.default)
                parameters[name] = parameter.replace(kind=Parameter.KEYWORD_ONLY, default=default)
    construct.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return construct
