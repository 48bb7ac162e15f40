"""Spectral convolutions: with polynomial filters, or with free filter values at every eigenvalue of one graph."""

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, flag, integer, one_of
from chebnet2d.conv.paradigms import INITS, Paradigm, make_paradigm
from chebnet2d.conv.polynomial_conv import PolynomialConv
from chebnet2d.graph import Graph, Spectrum, operator_of
from chebnet2d.kernels.orthonormal_filter import orthonormal_filter
from chebnet2d.polynomials import Basis, Chebyshev, SignalOrthonormal, coefficient_matrix, get_basis, to_chebyshev, values


class SpectralConv(PolynomialConv):
    """Z = sum_k p_k(L_hat) F W_k + b: one paradigm, one polynomial basis.

    Args:
        in_channels, out_channels: C and C'.
        degree: D; the polynomial has D + 1 terms.
        paradigm: "I", "II", "III", "2d" or "rank" (see ``chebnet2d.conv.paradigms``), or a ``Paradigm``.
        rank: r, for "rank".
        basis: a name or an object of ``chebnet2d.polynomials``.
        scaling: what the parameters are: "coefficients" of p_k; for the Chebyshev basis also "interpolation" (values of the
            filter at the Chebyshev nodes) and "paper" (the form printed in the ChebNet2D paper, see ``coefficient_matrix``).
        init: "identity" (the filter starts as 1, so that Z = F if C' = C) or "xavier" (normal, gain 0.5).
        operator: "L_hat" (= L - I), "P" (= -L_hat) or "P~" (with self loops), for graphs given by their edges.
        bias: add a bias.

    ``forward(x, edge_index, edge_weight=None)`` follows torch_geometric; a torch sparse adjacency matrix or a ``SparseOperator``
    can be passed as ``edge_index``.
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
        bias: bool = False,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.in_channels = integer(owner, "in_channels", in_channels, 1)
        self.out_channels = integer(owner, "out_channels", out_channels, 1)
        self.degree = integer(owner, "degree", degree, 0)
        self.basis = get_basis(basis)
        self.operator = one_of(owner, "operator", operator, ("L_hat", "P", "P~"))
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

    def reset_parameters(self) -> None:
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
        operator = operator_of(edge_index, edge_weight, x, kind=self.operator, owner=type(self).__name__)
        if self.basis.fixed:
            z = self.paradigm.polynomial(operator, x, self.transform)
        elif isinstance(self.basis, SignalOrthonormal) and (theta := self.paradigm.diagonals()) is not None:
            z = orthonormal_filter(operator, x, theta, self.basis.tolerance)
        else:
            terms = torch.stack(list(self.basis.terms(lambda v: operator @ v, x, self.degree)))
            z = self.paradigm.combine(terms)
        return z if self.bias is None else z + self.bias

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

    def response(self, frequencies: Tensor) -> Tensor:
        """The filter of every pair of channels at frequencies (eigenvalues of the operator): len(frequencies) x C x C'."""
        owner = f"{type(self).__name__}.response"
        if not self.basis.fixed:
            got = f"{self.basis.name!r}, which depends on the signal: its filters have no values of their own"
            raise InputError(owner, "basis", "fixed", got=got)
        frequencies = torch.as_tensor(frequencies)
        if frequencies.dim() != 1 or not frequencies.is_floating_point():
            raise InputError(owner, "frequencies", "a vector of numbers in [-1, 1]", frequencies)
        if not bool((frequencies.abs() <= 1 + 1e-6).all()):  # eigenvalues may leave [-1, 1] by rounding
            worst = frequencies[frequencies.abs().nan_to_num(torch.inf).argmax()].item()
            raise InputError(owner, "frequencies", "in [-1, 1]", got=f"{worst:g}")
        maps = self.paradigm.maps()
        chebyshev = values(Chebyshev(), frequencies.to(maps.device, torch.float64), self.degree)
        at_frequency = (chebyshev.T @ self.to_chebyshev().to(maps.device)).to(maps.dtype)
        return torch.einsum("nk,kij->nij", at_frequency, maps)

    def _check(self, x: Tensor) -> None:
        if not isinstance(x, Tensor) or x.dim() != 2 or x.shape[1] != self.in_channels:
            raise InputError(type(self).__name__, "x", f"an N x {self.in_channels} tensor", x)
        if not x.is_floating_point():
            raise InputError(type(self).__name__, "x", "a floating point dtype", got=str(x.dtype), verb="have")

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, degree={self.degree}, paradigm={self.paradigm.name!r}"
        return text + f", basis={self.basis.name!r}, scaling={self.scaling!r}"


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
