"""Models on precomputed bases P_d = p_d(M) X: batches of rows in, logits out, no graph.

p_d(M) h(X) cannot be precomputed for a non-linear h, so "training on precomputed bases" has three readings:

    "filter-first"   Z = MLP(sum_d P_d W_d)        the filter acts on raw features: ``FilterFirst``
    "each-basis"     Z = sum_d h(P_d) W_d          the MLP h acts on every basis, D + 1 times: ``EachBasis``
    "full-batch"     Z = sum_d p_d(M) h(X) W_d     as printed; this is ``fit`` with the whole graph

The convolution is the one that the method states (``Decoupled.convolution``). Chebyshev bases on disk serve every fixed basis:
another polynomial is a combination of them, by a (D + 1) x (D + 1) matrix.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.conv import ExactBuffers
from chebnet2d.graph import Graph, SparseOperator, operator_of
from chebnet2d.models.configured import Configured, group_by_prefix
from chebnet2d.models.decoupled import Decoupled
from chebnet2d.models.filtering import Filtering
from chebnet2d.models.label_sets import LabelSets
from chebnet2d.models.node_classifier import NodeClassifier, Prediction, evaluating, logits_of
from chebnet2d.models.registry import MODELS, find_model, model_name
from chebnet2d.models.seen_nodes import SeenNodes
from chebnet2d.nn import MLP, Dropout, Features, check_features
from chebnet2d.polynomials import BASES, Basis
from chebnet2d.preparation import Preparation

FULL_BATCH = "full-batch"
MAPS = ("auto", "hidden", "features")


@runtime_checkable
class StoredBases(Protocol):
    """What a model needs of bases: which polynomials of which operator they are, their sizes, and rows by position."""

    @property
    def basis_name(self) -> str: ...
    @property
    def basis_parameters(self) -> Mapping[str, Any]: ...
    @property
    def operator(self) -> str: ...
    @property
    def degree(self) -> int: ...
    @property
    def num_features(self) -> int: ...
    @property
    def num_classes(self) -> int | None: ...
    def __len__(self) -> int: ...
    def read(self, positions: Tensor) -> Tensor:
        """B x (D + 1) x F."""
        ...


def on_bases(
    method: str | type[NodeClassifier],
    bases: StoredBases,
    out_channels: int | None = None,
    *,
    reading: str = "filter-first",
    **options: Any,
) -> "OnBases":
    """The model of a method for the bases at hand; ``options`` are those of ``FilterFirst`` or ``EachBasis``.

    >>> # on_bases("chebnet2d", bases, hidden_channels=512, num_layers=3)
    """
    if not isinstance(bases, StoredBases):
        raise InputError("on_bases", "bases", "Bases of a folder", bases)
    classes = bases.num_classes if out_channels is None else out_channels
    if classes is None:
        raise InputError("on_bases", "out_channels", "given for bases without labels", got="None")
    if one_of("on_bases", "reading", reading, (*READINGS, FULL_BATCH)) == FULL_BATCH:
        raise InputError("on_bases", "reading", "one that uses bases", got="'full-batch', which is chebnet2d.fit on the graph")
    given = {"degree": bases.degree, "stored": _kind(bases), **options}
    return READINGS[reading](method, bases.num_features, classes, **given)


def _kind(bases: StoredBases) -> dict[str, Any]:
    """What has to agree between a model and bases, besides the number of features; ready for JSON."""
    parameters = dict(bases.basis_parameters)
    return {"basis": bases.basis_name, "parameters": parameters, "operator": bases.operator, "degree": bases.degree}


class OnBases(Configured, Filtering, ExactBuffers):
    """``forward(terms)`` takes B x (D + 1) x F rows of the bases and gives B x C logits.

    The method's options may be given by their own names (``steps``, ``terms``), with ``degree`` for all others. A polynomial of a
    lower degree than the bases leaves the higher terms out.
    """

    reading: ClassVar[str]
    preparation: Preparation | None = None
    """Of the graph that the bases were computed from."""
    seen: SeenNodes | None = None
    threshold: float | None = None
    temperature: float | None = None
    label_sets: LabelSets | None = None
    change: Tensor
    mlp: MLP

    def _assemble(self, method: str | type[NodeClassifier], sizes: tuple[int, int, int], options: dict[str, Any]) -> None:
        """``sizes``: F of the bases, and the inputs and outputs of the convolution."""
        owner, config = type(self).__name__, self._config
        model = _decoupled(method, owner)
        config["method"] = self.method = model_name(model)
        self._method_groups = model.groups
        self.varies_in_stack = model.varies_in_stack | {"dropout", "filter_dropout"}
        degree = integer(owner, "degree", config["degree"], 0)
        usual = {"basis": "chebyshev", "parameters": {}, "operator": "L_hat", "degree": degree}
        self.stored = config["stored"] = {**usual, **(config["stored"] or {})}
        self.degree = integer(owner, "degree in stored", self.stored["degree"], 0)
        if model.degree_argument is not None:
            name, more = model.degree_argument
            options = {name: degree + more, **options}
        self.in_channels, inputs, outputs = sizes
        try:
            self.conv = model.convolution(inputs, outputs, **options)
        except TypeError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(owner, "options", f"those of the convolution of {self.method!r}", reason=str(error)) from None
        self.register_exact("change", self.conv.change_to(**self.stored, owner="on_bases"))

    @property
    def basis(self) -> Basis:
        """Of the terms that it takes."""
        kind = BASES[one_of(type(self).__name__, "the basis", self.stored["basis"], tuple(BASES))]
        made: Basis = kind(**self.stored["parameters"])
        return made

    def group_of(self, parameter_name: str) -> str:
        return group_by_prefix(self._method_groups, parameter_name)

    def predict(self, bases: StoredBases, batch_size: int = 10_000, positions: Tensor | None = None) -> Prediction:
        """Labels and probabilities of the stored nodes, in stored order, or of those at ``positions``; read in batches."""
        self.check_bases(bases)
        like = next(self.parameters())
        wanted = torch.arange(len(bases)) if positions is None else positions
        with evaluating(self):
            parts = wanted.split(integer(type(self).__name__, "batch_size", batch_size, 1))
            answers = (logits_of(self(bases.read(part).to(like.device, like.dtype))).cpu() for part in parts)
            return Prediction.of_answers(answers, self.threshold, self.temperature)

    def on_graph(self, x: Features, graph: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """N x C logits from the graph itself: the same as from its bases, up to rounding."""
        raise NotImplementedError

    def check_bases(self, bases: StoredBases) -> None:
        """Raise unless these are bases of the kind that the model was made for."""
        needed, found = {**self.stored, "features": self.in_channels}, {**_kind(bases), "features": bases.num_features}
        for name, value in needed.items():
            if value != found[name]:
                rule = f"the {name} {value}, as the model"
                raise InputError(type(self).__name__, "the bases", rule, got=str(found[name]), verb="have")

    def _dense(self, x: Features) -> Tensor:
        check_features(type(self).__name__, x, self.in_channels)
        dense: Tensor = x.to_dense() if isinstance(x, SparseOperator) else x  # type: ignore[assignment]
        return dense

    def _check(self, terms: Tensor) -> None:
        shape = (self.degree + 1, self.in_channels)
        if not isinstance(terms, Tensor) or terms.dim() != 3 or terms.shape[1:] != shape:
            raise InputError(type(self).__name__, "terms", f"a B x {shape[0]} x {shape[1]} tensor", terms)


class FilterFirst(OnBases):
    """Z = MLP(sum_d P_d W_d): the filter on raw features, then the MLP without dropout of its input.

    Args:
        method: a decoupled method in any spelling, or its class.
        in_channels, out_channels: F and C.
        hidden_channels, num_layers: of the MLP.
        degree: of the polynomial.
        maps: where W_d are maps between channels (ChebNet2D, Spec-GN*): "hidden", F x H, in the place of the MLP's first layer;
            or "features", F x F, followed by the whole MLP; "auto": "features" up to F = H, where it is the cheaper one. Methods
            without maps ignore it.
        stored: what is on disk, as ``on_bases`` fills it in: basis, parameters, operator and degree. Default: Chebyshev bases of
            L_hat of the same degree.
        options: of the method's convolution: ``rank`` and ``init`` of chebnet2d, ``alpha`` of gprgnn, ...

    With F x H maps the filter starts as 1 and the map as a linear layer does: the model starts as the MLP on raw features.
    """

    reading: ClassVar[str] = "filter-first"

    @property
    def rows_and_columns(self) -> tuple[str, str]:
        if not self.replaces:
            return "feature", "feature"
        return "feature", "class" if self.config["num_layers"] == 1 else "hidden unit"

    def __init__(
        self,
        method: str | type[NodeClassifier],
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        degree: int = 10,
        num_layers: int = 2,
        dropout: float = 0.5,
        maps: str = "auto",
        batch_norm: bool = False,
        stored: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        one_of("FilterFirst", "maps", maps, MAPS)
        integer("FilterFirst", "num_layers", num_layers, 1)
        hidden_maps = maps == "hidden" or (maps == "auto" and in_channels > hidden_channels)
        self.replaces = hidden_maps and _decoupled(method, "FilterFirst").maps_channels
        first = hidden_channels if num_layers > 1 else out_channels
        outputs = first if self.replaces else in_channels
        self._assemble(method, (in_channels, in_channels, outputs), options)
        if self.replaces:
            self.bias = nn.Parameter(torch.zeros(outputs))
        self.mlp = MLP(outputs, hidden_channels, out_channels, num_layers, dropout, input_dropout=0.0, batch_norm=batch_norm)
        if self.replaces:  # the first layer is the filter's own
            self.mlp.layers[0] = nn.Identity()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for module in self.mlp.modules():
            own = getattr(module, "reset_parameters", None)
            if callable(own):
                own()
        self.conv.reset_parameters()
        if self.replaces:
            bound = self.in_channels**-0.5
            start = torch.empty(self.in_channels, self.bias.numel()).uniform_(-bound, bound)
            nn.init.uniform_(self.bias, -bound, bound)
            self.conv.start_as_map(start)

    def forward(self, terms: Tensor) -> Tensor:
        self._check(terms)
        return self._rest(self.conv.combine_terms(terms, self.change))

    def _rest(self, filtered: Tensor) -> Tensor:
        logits: Tensor = self.mlp.rest(filtered + self.bias) if self.replaces else self.mlp(filtered)
        return logits

    def on_graph(self, x: Features, graph: Graph, edge_weight: Tensor | None = None) -> Tensor:
        return self._rest(self.conv(self.signal(x), graph, edge_weight))

    def signal(self, x: Features) -> Tensor:
        """The filter acts on the features."""
        return self._dense(x)


class EachBasis(OnBases):
    """Z = sum_d h(P_d) W_d with one MLP h from F features to C logits, and the method's convolution on C channels.

    For linear h it is the model as printed. Arguments as in ``FilterFirst``; ``dropout`` is before each linear layer,
    ``filter_dropout`` between the MLP and the filter.
    """

    reading: ClassVar[str] = "each-basis"
    one_signal: ClassVar[bool] = False

    def __init__(
        self,
        method: str | type[NodeClassifier],
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        degree: int = 10,
        num_layers: int = 2,
        dropout: float = 0.5,
        filter_dropout: float = 0.0,
        stored: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._assemble(method, (in_channels, out_channels, out_channels), options)
        self.mlp = MLP(in_channels, hidden_channels, out_channels, num_layers, dropout)
        self.filter_dropout = Dropout(filter_dropout)

    def forward(self, terms: Tensor) -> Tensor:
        self._check(terms)
        hidden: Tensor = self.filter_dropout(self.mlp(terms.reshape(-1, self.in_channels)))
        return self.conv.combine_terms(hidden.view(terms.shape[0], terms.shape[1], -1), self.change)

    def on_graph(self, x: Features, graph: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """The terms are not a convolution of anything: all D + 1 are in memory, each with its pass of the MLP."""
        dense = self._dense(x)
        operator = operator_of(graph, edge_weight, dense, kind=self.stored["operator"], owner=type(self).__name__)
        logits: Tensor = self(torch.stack(list(self.basis.terms(lambda v: operator @ v, dense, self.degree)), dim=1))
        return logits

    def signal(self, x: Features) -> Tensor:
        rule, got = "convolved by a model that is to be looked at", "each-basis, where the MLP comes after the polynomials"
        raise InputError("signal", "one signal", rule, got=got)


READINGS: dict[str, type[OnBases]] = {kind.reading: kind for kind in (FilterFirst, EachBasis)}


def _decoupled(method: str | type[NodeClassifier], owner: str) -> type[Decoupled]:
    model = find_model(method)
    if not issubclass(model, Decoupled):
        rule = "one of " + ", ".join(repr(name) for name, known in MODELS.items() if issubclass(known, Decoupled))
        raise InputError(owner, "method", rule, got=f"{model_name(model)!r}, which is no polynomial of the graph on its own")
    return model
