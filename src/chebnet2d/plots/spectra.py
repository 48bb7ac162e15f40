"""What a picture needs of a graph's spectrum: how dense it is, and where the energy of signals lies. Exact where N is small."""

import numpy as np
import torch
from torch import Tensor

from chebnet2d.conv import PolynomialConv
from chebnet2d.graph import SparseOperator, kept_spectrum
from chebnet2d.polynomials import band_pass_series, chebyshev_nodes, coefficient_matrix

LARGEST_EXACT = 3000
DEGREE = 100  # of the kernel polynomials on larger graphs
PROBES = 8


def density(operator: SparseOperator, edges: np.ndarray) -> np.ndarray:
    """The share of the eigenvalues between M + 1 edges in [-1, 1]: M numbers that add up to 1."""
    if _is_small(operator):
        return np.histogram(_inside(kept_spectrum(operator).eigenvalues, edges), edges)[0] / operator.shape[0]
    # The trace of b(M) is the mean of <s, b(M) s> over random signs s.
    generator = torch.Generator().manual_seed(0)
    signs = torch.randint(0, 2, (operator.shape[0], PROBES), generator=generator).to(operator.dtype) * 2 - 1
    return energies(operator, signs, edges).mean(1) / operator.shape[0]


def energies(operator: SparseOperator, signal: Tensor, edges: np.ndarray) -> np.ndarray:
    """The energy of each column of the signal between the edges: M x C numbers, whose columns add up to |signal|^2."""
    if _is_small(operator):
        spectrum = kept_spectrum(operator)
        squares, values = spectrum.transform(signal).square().numpy().T, _inside(spectrum.eigenvalues, edges)
        return np.stack([np.histogram(values, edges, weights=column)[0] for column in squares], axis=1)
    return (band_pass_series(edges, DEGREE).T @ moments(operator, signal, DEGREE)).numpy()


def moments(operator: SparseOperator, signal: Tensor, degree: int) -> Tensor:
    """<x, T_k(M) x> of each column x, for k = 0..degree: (degree + 1) x C, in float64."""
    before, current = signal, signal
    found = [(signal * signal).sum(0)]
    for k in range(1, degree + 1):
        moved = operator @ current
        before, current = current, moved if k == 1 else 2 * moved - before
        found.append((signal * current).sum(0))
    return torch.stack(found).double()


def pair_energies(conv: PolynomialConv, signal: Tensor, operator: SparseOperator) -> np.ndarray:
    """|g_cj(M) x_c|^2, what each pair of channels carries on this graph: C x C'. g^2 has the degree 2 D, so 2 D moments do."""
    degree = 2 * conv.degree
    squares = conv.response(chebyshev_nodes(degree), (signal, operator)).double().square()
    series = torch.tensordot(coefficient_matrix(degree, "interpolation"), squares, dims=1)
    return torch.einsum("kcj,kc->cj", series, moments(operator, signal, degree)).clamp(min=0).detach().numpy()


def _is_small(operator: SparseOperator) -> bool:
    return operator.symmetric and operator.shape[0] <= LARGEST_EXACT


def _inside(eigenvalues: Tensor, edges: np.ndarray) -> np.ndarray:
    """Eigenvalues that rounding has put beside a multiple of 1e-9, and out of [-1, 1], are put back."""
    return np.clip(eigenvalues.numpy().round(9), edges[0], edges[-1])
