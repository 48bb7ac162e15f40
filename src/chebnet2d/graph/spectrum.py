"""The exact graph Fourier transform: the reference that every fast path is tested against."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph.operator_cache import remembered
from chebnet2d.graph.sparse_operator import SparseOperator

LARGEST_EXACT = 20_000


@dataclass(frozen=True)
class Spectrum:
    """The N eigenvalues (ascending) and orthonormal eigenvectors (columns, N x N) of a symmetric operator.

    For ``L_hat`` the eigenvalues are the frequencies in [-1, 1] that filters are functions of (those of L are the same plus one).
    Computing them takes O(N^3) time and O(N^2) memory.
    """

    eigenvalues: Tensor
    eigenvectors: Tensor

    @classmethod
    def of(cls, operator: SparseOperator) -> "Spectrum":
        """Eigendecomposition in float64."""
        rows = operator.shape[0]
        if not operator.symmetric:
            raise InputError("Spectrum.of", "operator", "symmetric", operator)
        if rows > LARGEST_EXACT:
            rule, hint = f"at most {LARGEST_EXACT} rows for an exact eigendecomposition", "Use a polynomial filter."
            raise InputError("Spectrum.of", "operator", rule, got=str(rows), hint=hint, verb="have")
        return cls(*torch.linalg.eigh(operator.to_dense().to(torch.float64)))

    @property
    def num_nodes(self) -> int:
        return self.eigenvalues.shape[0]

    def transform(self, x: Tensor) -> Tensor:
        """Graph Fourier transform U^T x, for x: N x C or N."""
        return self.eigenvectors.T @ self._checked(x)

    def inverse(self, x_hat: Tensor) -> Tensor:
        """Inverse transform U x_hat, for x_hat: N x C or N."""
        return self.eigenvectors @ self._checked(x_hat)

    def filter(self, x: Tensor, g: Callable[[Tensor], Tensor] | Tensor) -> Tensor:
        """U g(Lambda) U^T x, for x: N x C.

        ``g`` is a function of the eigenvalues or its values: N (one filter for all channels), N x C (one filter per channel) or
        N x C x C' (one filter per pair of channels: the 2-D graph convolution, with a result of C' channels).
        """
        x_hat = self.transform(x)
        values = torch.as_tensor(g(self.eigenvalues) if callable(g) else g).to(x_hat.dtype)
        if values.dim() not in (1, 2, 3) or values.shape[0] != self.num_nodes:
            raise InputError("Spectrum.filter", "g", f"one value, row or matrix for each of {self.num_nodes} eigenvalues", values)
        if values.dim() > 1 and (x_hat.dim() != 2 or values.shape[1] != x_hat.shape[1]):
            raise InputError("Spectrum.filter", "g", f"of {tuple(x_hat.shape)[1:]} input channels, as x", values)
        if values.dim() == 3:
            return self.inverse(torch.einsum("nc,ncj->nj", x_hat, values))
        if values.dim() < x_hat.dim():
            values = values.unsqueeze(1)
        return self.inverse(x_hat * values)

    def _checked(self, x: Tensor) -> Tensor:
        if not isinstance(x, Tensor) or x.dim() not in (1, 2) or x.shape[0] != self.num_nodes:
            raise InputError("Spectrum", "x", f"a tensor with {self.num_nodes} rows", x)
        return x.to(self.eigenvectors.dtype)


def kept_spectrum(operator: SparseOperator) -> Spectrum:
    """``Spectrum.of(operator)`` (N eigenvalues, N x N eigenvectors), kept for the next call with the same operator."""
    return remembered(operator, "spectrum", lambda: Spectrum.of(operator))
