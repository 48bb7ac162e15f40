"""Spectral convolutions: with polynomial filters, or with free filter values at every eigenvalue of one graph."""

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from chebnet2d._checks import InputError, flag, integer, one_of
from chebnet2d._stacks import not_compiled
from chebnet2d.conv.paradigms import INITS, Paradigm, make_paradigm
from chebnet2d.conv.polynomial_conv import PolynomialConv, Signal, checked_frequencies
from chebnet2d.graph import DIRECTED, Graph, SparseOperator, Spectrum, learnable_operator_of
from chebnet2d.kernels.chebyshev_filter import chebyshev_filter
from chebnet2d.kernels.graph_filter import graph_filter
from chebnet2d.kernels.orthonormal_filter import orthonormal_filter
from chebnet2d.polynomials import Basis, Chebyshev, SignalOrthonormal, coefficient_matrix, get_basis, to_chebyshev, values

_HALF = (torch.float16, torch.bfloat16)


class SpectralConv(PolynomialConv, MessagePassing):  # type: ignore[misc]
    """Z = sum_k p_k(L_hat) F W_k + b: one paradigm, one polynomial basis.

    Args:
        in_channels, out_channels: C and C'; C = -1 for what the first x has.
        degree: D; the polynomial has D + 1 terms.
        paradigm: "I", "II", "III", "2d" or "rank" (see ``chebnet2d.conv.paradigms``), or a ``Paradigm``.
        rank: r, for "rank".
        basis: a name or an object of ``chebnet2d.polynomials``.
        scaling: what the parameters are: "coefficients" of p_k; for the Chebyshev basis also "interpolation" (values of the
            filter at the Chebyshev nodes) and "paper" (the form printed in the ChebNet2D paper, see ``coefficient_matrix``).
        init: "identity" (the filter starts as 1, so that Z = F if C' = C) or "xavier" (normal, gain 0.5).
        operator: "L_hat" (= L - I), "P" (= -L_hat) or "P~" (with self loops), for graphs given by their edges.
        directed: where the two directions of an edge differ, both get the larger weight ("symmetrise"; "warn" says so, once),
            or the graph is refused ("refuse"): the spectrum is that of an undirected graph.
        bias: add a bias.

    ``forward(x, edge_index, edge_weight=None)`` follows torch_geometric; a torch sparse adjacency matrix or a ``SparseOperator``
    can be passed as ``edge_index``. Edge weights may require a gradient. The layer is a ``MessagePassing`` so that explainers and
    ``to_hetero`` know it; messages are passed by its kernels, not by ``propagate``.
    """

    transform: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        degree: int = 10,
        *,
        paradigm: str | Paradigm = "2d",
        rank: int | None = None,
        basis: str | Basis = "chebyshev",
        scaling: str = "coefficients",
        init: str = "identity",
        operator: str = "L_hat",
        directed: str = "warn",
        bias: bool = False,
    ) -> None:
        MessagePassing.__init__(self, aggr=None)
        owner = type(self).__name__
        self.out_channels = integer(owner, "out_channels", out_channels, 1)
        self.degree = integer(owner, "degree", degree, 0)
        self.basis = get_basis(basis)
        self.operator = one_of(owner, "operator", operator, ("L_hat", "P", "P~"))
        self.directed = one_of(owner, "directed", directed, DIRECTED)
        self.scaling = one_of(owner, "scaling", scaling, ("interpolation", "paper", "coefficients"))
        self.init = one_of(owner, "init", init, INITS)
        if scaling != "coefficients" and not isinstance(self.basis, Chebyshev):
            rule, hint = f"'coefficients' for the basis {self.basis.name!r}", "Interpolation is defined for the Chebyshev basis."
            raise InputError(owner, "scaling", rule, scaling, hint)
        self.paradigm = make_paradigm(paradigm, in_channels, out_channels, degree + 1, rank)
        # From parameters to Chebyshev coefficients, D + 1 x D + 1. Constant, so not part of the saved state. Exact: the
        # interpolation property would hold to 1e-7 only if .double() widened a rounded float32 matrix.
        if self.basis.fixed:
            change = to_chebyshev(self.basis, degree).T @ coefficient_matrix(degree, scaling)
        else:
            change = torch.eye(degree + 1, dtype=torch.float64)
        self.register_exact("transform", change)
        self.bias = nn.Parameter(torch.empty(out_channels)) if flag(owner, "bias", bias) else None
        self.reset_parameters()

    @property
    def in_channels(self) -> int:
        return self.paradigm.in_channels

    def reset_parameters(self) -> None:
        if self.paradigm.is_lazy:
            return
        self.paradigm.reset_parameters(self.init, self._identity())
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def start_as_map(self, weight: Tensor) -> None:
        if self.init == "identity":  # a start at random stays as it is
            self.paradigm.start_as_map(weight, self._identity())

    def _identity(self) -> Tensor:
        """The parameters of the filter 1, in float64."""
        identity = torch.zeros(self.degree + 1, dtype=torch.float64)
        identity[0] = 1.0  # coefficients of the polynomial 1 in the Chebyshev basis
        return torch.linalg.solve(self.to_chebyshev(), identity) if self.basis.fixed else identity

    def to_chebyshev(self) -> Tensor:
        return self.exact_value("transform")

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        z = self.paradigm.combine_terms(terms, change)
        return z if self.bias is None else z + self.bias

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        self._check(x)
        result = x.dtype
        if result != torch.float64 and torch.is_autocast_enabled(x.device.type):
            result = torch.get_autocast_dtype(x.device.type)
        with torch.autocast(x.device.type, enabled=False) if result != self.transform.dtype else nullcontext():
            x = x.float() if result in _HALF else x
            z = self._filtered(x, edge_index, edge_weight)
            return (z if self.bias is None else z + self.bias).to(result)

    def _filtered(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        """The filter alone, in the dtype of x."""
        if not torch.compiler.is_compiling():
            return self._filtered_eagerly(x, edge_index, edge_weight)
        plain = isinstance(edge_index, Tensor) and edge_index.layout == torch.strided and not self.explain
        if plain and self.basis.fixed and (edge_weight is None or not edge_weight.requires_grad):
            options = (self.operator, self.directed, type(self).__name__)
            return graph_filter(x, self._chebyshev_maps(x.dtype), edge_index, edge_weight, *options)
        return self._filtered_eagerly(x, edge_index, edge_weight)

    @not_compiled
    def _filtered_eagerly(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        operator = learnable_operator_of(
            edge_index,
            edge_weight,
            x,
            kind=self.operator,
            directed=self.directed,
            owner=type(self).__name__,
            mask=self._explained_edges(),
        )
        if x.dtype != self.transform.dtype:  # parameters in half precision: their sums are float32
            return chebyshev_filter(operator, x, self._chebyshev_maps(x.dtype))
        if self.basis.fixed:
            return self.paradigm.polynomial(operator, x, self.transform)
        if isinstance(self.basis, SignalOrthonormal) and isinstance(operator, SparseOperator):
            theta = self.paradigm.diagonals()
            if theta is not None:
                return orthonormal_filter(operator, x, theta, self.basis.tolerance)
        terms = torch.stack(list(self.basis.terms(lambda v: operator @ v, x, self.degree)))
        return self.paradigm.combine(terms)

    def _chebyshev_maps(self, dtype: torch.dtype) -> Tensor:
        """The coefficients of T_0 to T_D, as ``chebyshev_filter`` takes them."""
        diagonals = self.paradigm.diagonals()
        parameters = self.paradigm.maps() if diagonals is None else diagonals
        return torch.tensordot(self.transform.to(dtype), parameters.to(dtype), dims=1)

    def _explained_edges(self) -> Tensor | None:
        """The mask that an explainer of torch_geometric has set on this layer: a number per edge."""
        mask: Any = self._edge_mask if self.explain else None
        return mask.sigmoid() if mask is not None and self._apply_sigmoid else mask

    def _set_jittable_templates(self, raise_on_error: bool = False) -> None:
        """torch_geometric would write code for the passing of messages here, and there is none."""

    def exact(self, x: Tensor, spectrum: Spectrum) -> Tensor:
        """The same function by eigendecomposition: slow, the reference for ``forward``."""
        self._check(x)
        if self.basis.fixed:
            z = spectrum.filter(x, self.response(spectrum.eigenvalues))
        else:
            x_hat = spectrum.transform(x)
            eigenvalues = spectrum.eigenvalues.unsqueeze(1)
            terms = torch.stack(list(self.basis.terms(lambda v: eigenvalues * v, x_hat, self.degree)))
            z = spectrum.inverse(self.paradigm.combine(terms))
        return z if self.bias is None else z + self.bias

    def response(self, frequencies: Tensor, signal: Signal | None = None) -> Tensor:
        """The filter of every pair of channels at frequencies (eigenvalues of the operator): len(frequencies) x C x C'."""
        return self._at(frequencies, signal, self.paradigm.maps())

    def curves(self, frequencies: Tensor, signal: Signal | None = None) -> Tensor:
        # The polynomials of a basis for the signal differ between channels, also where their coefficients do not.
        coefficients = self.paradigm.curves()
        shared = not self.basis.fixed and coefficients.dim() == 1
        return self._at(frequencies, signal, coefficients.unsqueeze(1) if shared else coefficients)

    def _at(self, frequencies: Tensor, signal: Signal | None, coefficients: Tensor) -> Tensor:
        """sum_k p_k(frequencies) coefficients[k]."""
        owner = f"{type(self).__name__}.response"
        if self.basis.fixed:
            known = checked_frequencies(owner, frequencies).to(coefficients.device)
            at_frequency = values(Chebyshev(), known, self.degree).T @ self.to_chebyshev().to(coefficients.device)
            return torch.tensordot(at_frequency.to(coefficients.dtype), coefficients, dims=1)
        if signal is None or not isinstance(self.basis, SignalOrthonormal):
            got = f"{self.basis.name!r}, which depends on the signal: its filters have no values of their own"
            raise InputError(owner, "basis", "fixed", got=got, hint="With the signal on a graph they have.")
        x, operator = signal
        known = checked_frequencies(owner, frequencies).to(x.device)
        own = self.basis.values_for(lambda v: operator @ v, x, self.degree, known).to(coefficients.dtype)
        return torch.einsum("knc,kc->nc" if coefficients.dim() == 2 else "knc,kcj->ncj", own, coefficients)

    def _check(self, x: Any) -> None:
        owner, dtype = type(self).__name__, self.transform.dtype
        if torch.jit.is_tracing():  # type: ignore[attr-defined]
            raise _not_scriptable(owner)
        if isinstance(x, tuple):
            rule, hint = f"one N x {self.in_channels} tensor", "A spectral filter needs edges among nodes of one kind."
            raise InputError(owner, "x", rule, got="a pair: source and target nodes", hint=hint)
        if self.paradigm.is_lazy and isinstance(x, Tensor) and x.dim() == 2:
            self.paradigm.materialize(x.shape[1])
            self.reset_parameters()
        if not isinstance(x, Tensor) or x.dim() != 2 or x.shape[1] != self.in_channels:
            raise InputError(owner, "x", f"an N x {self.in_channels} tensor", x)
        if not x.is_floating_point():
            raise InputError(owner, "x", "a floating point dtype", got=str(x.dtype), verb="have")
        if x.dtype != dtype and not torch.is_autocast_enabled(x.device.type):
            raise InputError(owner, "x", f"the dtype of the layer, {dtype}", got=str(x.dtype), verb="have")
        if not self.basis.fixed and (x.dtype in _HALF or dtype in _HALF):
            rule = f"float32 or float64 for the basis {self.basis.name!r}"
            raise InputError(owner, "x", rule, got=str(x.dtype), verb="have")

    def __prepare_scriptable__(self) -> Any:
        raise _not_scriptable(type(self).__name__)

    __repr__ = nn.Module.__repr__  # which names the degree and the paradigm, too

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, degree={self.degree}, paradigm={self.paradigm.name!r}"
        return text + f", basis={self.basis.name!r}, scaling={self.scaling!r}"


def _not_scriptable(owner: str) -> InputError:
    return InputError(
        owner, "the layer", "run by Python or torch.compile, not by torch.jit", hint="Use torch.compile or torch.export."
    )


class ExactConv(nn.Module):
    """The convolution of the theory: free filter values at every eigenvalue of one graph, by eigendecomposition.

    ``forward(x)`` maps N x C to N x C'. The index k of the paradigm counts the N eigenvalues of ``spectrum``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        spectrum: Spectrum,
        *,
        paradigm: str | Paradigm = "2d",
        rank: int | None = None,
        init: str = "identity",
    ) -> None:
        super().__init__()
        if not isinstance(spectrum, Spectrum):
            raise InputError("ExactConv", "spectrum", "a Spectrum", spectrum)
        self.spectrum = spectrum
        self.paradigm = make_paradigm(paradigm, in_channels, out_channels, spectrum.num_nodes, rank).double()
        one_of("ExactConv", "init", init, INITS)
        self.paradigm.reset_parameters(init, torch.ones(spectrum.num_nodes, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.spectrum.filter(x, self.paradigm.maps())

    def response(self, frequencies: Tensor) -> Tensor:
        """The filter of every pair of channels, len(frequencies) x C x C'; it is defined at eigenvalues of this graph only."""
        eigenvalues = self.spectrum.eigenvalues
        frequencies = torch.as_tensor(frequencies, dtype=eigenvalues.dtype)
        distance, nearest = (frequencies[:, None] - eigenvalues).abs().min(dim=1)
        if bool((distance > 1e-9).any()):
            worst = frequencies[distance.argmax()].item()
            hint = "Free filter values are defined nowhere else; a SpectralConv has values in between."
            raise InputError("ExactConv.response", "frequencies", "eigenvalues of the graph", got=f"{worst:g}", hint=hint)
        return self.paradigm.maps()[nearest]
