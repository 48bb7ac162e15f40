"""Models on precomputed bases P_d = p_d(M) X: batches of rows in, logits out, no graph.

p_d(M) h(X) cannot be precomputed for a non-linear h, so "training on precomputed bases" has three readings:

    "filter-first"   Z = MLP(sum_d P_d W_d)        the filter acts on raw features: ``FilterFirst``
    "each-basis"     Z = sum_d h(P_d) W_d          the MLP h acts on every basis, D + 1 times: ``EachBasis``
    "full-batch"     Z = sum_d p_d(M) h(X) W_d     as printed; this is ``fit`` with the whole graph

The methods differ in what W_d may be (their paradigm) and in the polynomials their parameters belong to. Chebyshev bases on disk
serve every fixed basis: another polynomial is a combination of them, by a (D + 1) x (D + 1) matrix.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, flag, integer, one_of
from chebnet2d.bases import Bases
from chebnet2d.conv import ExactBuffers, Paradigm, ParadigmI, ParadigmII, ParadigmIII
from chebnet2d.models.bernnet import NonNegativeI
from chebnet2d.models.configured import Configured
from chebnet2d.models.gprgnn import PageRankWeights
from chebnet2d.models.jacobiconv import DecomposedIII, PublishedJacobi
from chebnet2d.nn import MLP, Dropout, SpectralConv
from chebnet2d.polynomials import Basis, Chebyshev, Jacobi

READINGS = ("filter-first", "each-basis", "full-batch")
MAPS = ("auto", "hidden", "features")


def _chebnet2d(inputs: int, outputs: int, degree: int, **options: Any) -> SpectralConv:
    rank = options.pop("rank", None)
    paradigm = "2d" if rank is None else "rank"
    return SpectralConv(inputs, outputs, degree, paradigm=paradigm, rank=rank, scaling="interpolation", **options)


def _chebnetii(inputs: int, outputs: int, degree: int, relu: bool = True) -> SpectralConv:
    kind = NonNegativeI if flag("chebnetii", "relu", relu) else ParadigmI
    return SpectralConv(inputs, outputs, degree, paradigm=kind(inputs, outputs, degree + 1), scaling="interpolation")


def _optbasis(inputs: int, outputs: int, degree: int) -> SpectralConv:
    return SpectralConv(inputs, outputs, degree, paradigm="III", basis="orthonormal", operator="P")


def _gprgnn(inputs: int, outputs: int, degree: int, alpha: float = 0.1, init: str = "ppr") -> SpectralConv:
    weights = PageRankWeights(inputs, degree + 1, init, alpha)
    return SpectralConv(inputs, outputs, degree, paradigm=weights, basis="monomial", operator="P~")


def _jacobiconv(
    inputs: int, outputs: int, degree: int, a: float = 1.0, b: float = 1.0, alpha: float = 1.0, sign: str = "published"
) -> SpectralConv:
    one_of("jacobiconv", "sign", sign, ("published", "correct"))
    basis: Basis = PublishedJacobi(a, b) if sign == "published" else Jacobi(a, b)
    weights = DecomposedIII(inputs, degree + 1, alpha, False)
    return SpectralConv(inputs, outputs, degree, paradigm=weights, basis=basis, operator="P")


def _specgn(inputs: int, outputs: int, degree: int) -> SpectralConv:
    return SpectralConv(inputs, outputs, degree, paradigm="II", basis="monomial", operator="P~")


METHODS: dict[str, Callable[..., SpectralConv]] = {
    "chebnet2d": _chebnet2d,
    "chebnetii": _chebnetii,
    "optbasis": _optbasis,
    "gprgnn": _gprgnn,
    "jacobiconv": _jacobiconv,
    "specgn": _specgn,
}
"""The convolution of each method, on any number of channels. It holds the parameters; what it is applied to comes from disk."""

_SQUARE = ("chebnetii", "optbasis", "gprgnn", "jacobiconv")  # no map between channels


def on_bases(
    method: str, bases: Bases, out_channels: int | None = None, *, reading: str = "filter-first", **options: Any
) -> "OnBases":
    """The model of a method for the bases at hand; ``options`` are those of ``FilterFirst`` or ``EachBasis``.

    >>> # on_bases("chebnet2d", bases, hidden_channels=512, num_layers=3)
    """
    if not isinstance(bases, Bases):
        raise InputError("on_bases", "bases", "Bases of a folder", bases)
    classes = bases.num_classes if out_channels is None else out_channels
    if classes is None:
        raise InputError("on_bases", "out_channels", "given for bases without labels", got="None")
    if one_of("on_bases", "reading", reading, READINGS) == "full-batch":
        raise InputError("on_bases", "reading", "one that uses bases", got="'full-batch', which is chebnet2d.fit on the graph")
    kind = FilterFirst if reading == "filter-first" else EachBasis
    stored: dict[str, Any] = {
        "stored_basis": bases.basis_name,
        "stored_parameters": bases.basis_parameters,
        "stored_operator": bases.operator,
    }
    return kind(method, bases.num_features, classes, degree=bases.degree, **stored, **options)


class OnBases(Configured, ExactBuffers):
    """``forward(terms)`` takes B x (D + 1) x F rows of the bases and gives B x C logits.

    ``groups``, ``free``, ``config`` and ``stack_key`` are as in ``chebnet2d.models.NodeClassifier``.
    """

    reading: ClassVar[str]
    free: ClassVar[frozenset[str]] = frozenset({"dropout", "filter_dropout", "init"})
    change: Tensor

    def _frame(
        self, method: str, inputs: int, outputs: int, degree: int, stored: dict[str, Any], options: dict[str, Any]
    ) -> None:
        one_of(type(self).__name__, "method", method, tuple(METHODS))
        self.method = method
        self.degree = integer(type(self).__name__, "degree", degree, 0)
        self.conv = METHODS[method](inputs, outputs, degree, **options)
        self.register_exact("change", change_of_basis(self.conv, **stored))

    def group_of(self, parameter_name: str) -> str:
        if not parameter_name.startswith("conv."):
            return "weights"
        return "scale" if parameter_name == "conv.paradigm.eta" else "filter"

    def _check(self, terms: Tensor, channels: int) -> None:
        if not isinstance(terms, Tensor) or terms.dim() != 3 or terms.shape[1:] != (self.degree + 1, channels):
            raise InputError(type(self).__name__, "terms", f"a B x {self.degree + 1} x {channels} tensor", terms)


class FilterFirst(OnBases):
    """Z = MLP(sum_d P_d W_d): the filter on raw features, then the MLP without dropout of its input.

    Args:
        method: a name of ``METHODS``.
        in_channels, out_channels: F and C.
        hidden_channels, num_layers: of the MLP.
        maps: where W_d are maps between channels (ChebNet2D, Spec-GN*): "hidden", F x H, in the place of the MLP's first layer;
            or "features", F x F, followed by the whole MLP; "auto": "features" up to F = H, where it is the cheaper one. Methods
            without maps ignore it.
        stored_basis, stored_parameters, stored_operator: what is on disk (``on_bases`` fills them in).
        options: of the method: ``rank`` and ``init`` of chebnet2d, ``relu`` of chebnetii, ``alpha`` and ``init`` of gprgnn,
            ``a``, ``b``, ``alpha`` and ``sign`` of jacobiconv.

    With F x H maps the filter starts as 1 and the map as a linear layer does: the model starts as the MLP on raw features.
    """

    reading: ClassVar[str] = "filter-first"

    def __init__(
        self,
        method: str,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        degree: int = 10,
        num_layers: int = 2,
        dropout: float = 0.5,
        maps: str = "auto",
        batch_norm: bool = False,
        stored_basis: str = "chebyshev",
        stored_parameters: dict[str, Any] | None = None,
        stored_operator: str = "L_hat",
        **options: Any,
    ) -> None:
        super().__init__()
        one_of("FilterFirst", "maps", maps, MAPS)
        integer("FilterFirst", "num_layers", num_layers, 1)
        self.in_channels = in_channels
        hidden_maps = maps == "hidden" or (maps == "auto" and in_channels > hidden_channels)
        self.replaces = hidden_maps and method not in _SQUARE
        widths = [hidden_channels] * (num_layers - 1) + [out_channels]
        outputs = widths[0] if self.replaces else in_channels
        stored = {"basis": stored_basis, "parameters": stored_parameters or {}, "operator": stored_operator}
        self._frame(method, in_channels, outputs, degree, stored, options)
        if self.replaces:
            self.bias = nn.Parameter(torch.zeros(outputs))
        self.mlp = MLP(
            outputs if self.replaces else in_channels,
            hidden_channels,
            out_channels,
            num_layers,
            dropout,
            input_dropout=0.0,
            batch_norm=batch_norm,
        )
        if self.replaces:  # the first layer is the filter's own
            self.mlp.layers[0] = _Nothing()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for module in self.mlp.modules():
            own = getattr(module, "reset_parameters", None)
            if callable(own):
                own()
        self.conv.reset_parameters()
        if not self.replaces:
            return
        with torch.no_grad():
            bound = self.in_channels**-0.5
            start = torch.empty(self.in_channels, self.conv.out_channels).uniform_(-bound, bound)
            self.bias.uniform_(-bound, bound)
            paradigm: Any = self.conv.paradigm
            if self.conv.init == "xavier":
                return
            if isinstance(paradigm, ParadigmII):
                paradigm.weight.copy_(start)
            elif hasattr(paradigm, "rank"):
                paradigm.weight[0] = start
            else:  # the filter 1 by interpolation is 1 at every node
                paradigm.theta.copy_(start.expand_as(paradigm.theta))

    def forward(self, terms: Tensor) -> Tensor:
        self._check(terms, self.in_channels)
        filtered = combine(self.conv.paradigm, terms, self.change)
        if self.replaces:
            return self.mlp.rest(filtered + self.bias)
        logits: Tensor = self.mlp(filtered)
        return logits


class EachBasis(OnBases):
    """Z = sum_d h(P_d) W_d with one MLP h from F features to C logits, and the method's convolution on C channels.

    For linear h it is the model as printed. Arguments as in ``FilterFirst``; ``dropout`` is before each linear layer,
    ``filter_dropout`` between the MLP and the filter.
    """

    reading: ClassVar[str] = "each-basis"

    def __init__(
        self,
        method: str,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        degree: int = 10,
        num_layers: int = 2,
        dropout: float = 0.5,
        filter_dropout: float = 0.0,
        stored_basis: str = "chebyshev",
        stored_parameters: dict[str, Any] | None = None,
        stored_operator: str = "L_hat",
        **options: Any,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        stored = {"basis": stored_basis, "parameters": stored_parameters or {}, "operator": stored_operator}
        self._frame(method, out_channels, out_channels, degree, stored, options)
        self.mlp = MLP(in_channels, hidden_channels, out_channels, num_layers, dropout)
        self.filter_dropout = Dropout(filter_dropout)

    def forward(self, terms: Tensor) -> Tensor:
        self._check(terms, self.in_channels)
        rows = terms.reshape(-1, self.in_channels)
        hidden: Tensor = self.filter_dropout(self.mlp(rows))
        return combine(self.conv.paradigm, hidden.view(terms.shape[0], terms.shape[1], -1), self.change)


class _Nothing(nn.Module):
    """Stands where a layer has been taken out."""

    def forward(self, x: Tensor) -> Tensor:
        return x


def combine(paradigm: Paradigm, terms: Tensor, change: Tensor) -> Tensor:
    """sum_d P_d W_d, with W_d = sum_k change[d, k] W'_k and W' the maps of the paradigm. terms: B x (D + 1) x C.

    One number a channel (or one in all) is a weighted sum; maps are one product of inner size (D + 1) C.
    """
    if isinstance(paradigm, ParadigmI):
        return torch.einsum("d,bdc->bc", change @ paradigm.coefficients(), terms)
    if isinstance(paradigm, ParadigmII):
        return torch.einsum("d,bdc->bc", change @ paradigm.coefficients(), terms) @ paradigm.weight
    if isinstance(paradigm, ParadigmIII):
        return torch.einsum("dc,bdc->bc", change @ paradigm.coefficients(), terms)
    maps = torch.einsum("dk,kcj->dcj", change, paradigm.maps())
    return terms.flatten(1) @ maps.flatten(0, 1)


def change_of_basis(conv: SpectralConv, basis: str, parameters: dict[str, Any], operator: str) -> Tensor:
    """(D + 1) x (D + 1), in float64: from the method's coefficients to those of the stored terms.

    P = -L_hat, and T_d(-x) = (-1)^d T_d(x): bases of the one serve the other with the signs of odd degrees changed. (So does the
    basis that is orthonormal for the signal.)
    """
    terms = conv.degree + 1
    mirror = {conv.operator, operator} == {"L_hat", "P"}
    signs = torch.tensor([-1.0 if mirror and d % 2 else 1.0 for d in range(terms)], dtype=torch.float64)
    needed = f"{conv.basis.name} of {conv.operator}"
    if conv.operator != operator and not mirror and operator != "given":
        raise InputError("on_bases", "the bases", f"of the operator {conv.operator} for this method", got=str(operator))
    if not conv.basis.fixed or basis == "orthonormal":
        if basis != conv.basis.name:
            raise InputError("on_bases", "the bases", f"{needed} for this method", got=str(basis))
        return torch.diag(signs)
    if basis == Chebyshev.name:
        return signs[:, None] * conv._exact_transform
    own = {name: float(value) for name, value in vars(conv.basis).items()}
    if (basis, parameters) == (conv.basis.name, own) and not mirror:
        return torch.eye(terms, dtype=torch.float64)
    raise InputError(
        "on_bases", "the bases", f"{needed}, or Chebyshev ones, which serve every fixed basis", got=f"{basis} {parameters or ''}"
    )
