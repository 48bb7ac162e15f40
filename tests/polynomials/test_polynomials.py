"""Polynomial bases and interpolation against scipy, numpy and dense matrices."""

import math

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d.polynomials import (
    BASES,
    Bernstein,
    Chebyshev,
    Jacobi,
    Legendre,
    SignalOrthonormal,
    chebyshev_nodes,
    coefficient_matrix,
    get_basis,
    to_chebyshev,
    values,
)

X = torch.linspace(-1, 1, 41, dtype=torch.float64)
FIXED = [basis() for basis in BASES.values() if basis.fixed] + [Jacobi(-0.5, 1.75)]  # a new basis comes in by itself
ORACLES = {
    "chebyshev": lambda basis, k, degree, x: scipy.special.eval_chebyt(k, x),
    "monomial": lambda basis, k, degree, x: x**k,
    "legendre": lambda basis, k, degree, x: scipy.special.eval_legendre(k, x),
    "jacobi": lambda basis, k, degree, x: scipy.special.eval_jacobi(k, basis.a, basis.b, x),
    "bernstein": lambda basis, k, degree, x: math.comb(degree, k) * ((1 + x) / 2) ** k * ((1 - x) / 2) ** (degree - k),
}


@pytest.mark.parametrize("basis", [basis for basis in FIXED if basis.name in ORACLES], ids=str)
@pytest.mark.parametrize("degree", [0, 1, 2, 10])
def test_values_against_scipy(basis, degree):
    ours = values(basis, X, degree).numpy()
    for k in range(degree + 1):
        np.testing.assert_allclose(ours[k], ORACLES[basis.name](basis, k, degree, X.numpy()), rtol=1e-10, atol=1e-12)


def test_jacobi_at_minus_one_is_the_limit():
    ours = values(Jacobi(-1.0, 0.5), X, 6).numpy()
    for k in range(7):  # scipy has no value at -1 itself
        np.testing.assert_allclose(ours[k], scipy.special.eval_jacobi(k, -1 + 1e-9, 0.5, X.numpy()), atol=1e-6)


@pytest.mark.parametrize("basis", FIXED, ids=str)
@pytest.mark.parametrize("degree", [0, 1, 7, 16])
def test_change_to_chebyshev(basis, degree):
    change = to_chebyshev(basis, degree)
    torch.testing.assert_close(change @ values(Chebyshev(), X, degree), values(basis, X, degree), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("basis", FIXED, ids=str)
@pytest.mark.parametrize("degree", [0, 1, 5])
def test_the_terms_span_all_polynomials_of_the_degree(basis, degree):
    assert torch.linalg.matrix_rank(to_chebyshev(basis, degree)) == degree + 1


@pytest.mark.parametrize("basis", FIXED, ids=str)
def test_a_matrix_is_treated_as_its_eigenvalues(basis):
    matrix = torch.randn(6, 6, dtype=torch.float64)
    matrix = (matrix + matrix.T) / 8
    eigenvalues, vectors = torch.linalg.eigh(matrix)
    start = torch.randn(6, 2, dtype=torch.float64)
    for k, term in enumerate(basis.terms(lambda v: matrix @ v, start, 5)):
        expected = vectors @ (values(basis, eigenvalues, 5)[k][:, None] * (vectors.T @ start))
        torch.testing.assert_close(term, expected)


@pytest.mark.parametrize("basis", [Legendre(), Jacobi(1.0, 1.0), Jacobi(-0.5, 1.75), Chebyshev()], ids=str)
def test_orthogonality_under_the_weight(basis):
    a, b = {"legendre": (0, 0), "chebyshev": (-0.5, -0.5)}.get(basis.name, (getattr(basis, "a", 0), getattr(basis, "b", 0)))
    points, weights = scipy.special.roots_jacobi(20, a, b)
    v = values(basis, torch.from_numpy(points), 8).numpy()
    gram = (v * weights) @ v.T
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-12)


def test_bernstein_is_a_partition_of_unity():
    v = values(Bernstein(), X, 9)
    torch.testing.assert_close(v.sum(0), torch.ones_like(X))
    assert (v >= 0).all()


@given(st.integers(0, 9), st.integers(0, 1000))
def test_signal_basis_spans_the_krylov_space_orthonormally(degree, seed):
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randn(12, 12, generator=generator, dtype=torch.float64)
    matrix = (matrix + matrix.T) / 10
    x = torch.randn(12, 3, generator=generator, dtype=torch.float64)
    terms = torch.stack(list(SignalOrthonormal().terms(lambda v: matrix @ v, x, degree)))
    for c in range(3):
        krylov = [x[:, c]]
        for _ in range(degree):
            step = matrix @ krylov[-1]
            krylov.append(step / step.norm())
        q, _ = np.linalg.qr(torch.stack(krylov, dim=1).numpy())
        ours = terms[:, :, c].T.numpy()
        np.testing.assert_allclose(ours.T @ ours, np.eye(degree + 1), atol=1e-6)
        np.testing.assert_allclose(np.abs(np.sum(q * ours, axis=0)), 1, atol=1e-5)


def test_signal_basis_ends_with_the_krylov_space():
    matrix = torch.diag(torch.tensor([0.5, 0.5, -0.5, -0.5], dtype=torch.float64))  # two eigenvalues: dimension 2
    x = torch.ones(4, 1, dtype=torch.float64, requires_grad=True)
    terms = torch.stack(list(SignalOrthonormal().terms(lambda v: matrix @ v, x, 5)))
    assert terms[2:].abs().max() == 0
    (gradient,) = torch.autograd.grad(terms.sum(), x)
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("degree", [0, 1, 2, 10, 16])
def test_interpolation_property(degree):
    nodes = chebyshev_nodes(degree)
    at_nodes = values(Chebyshev(), nodes, degree).T
    eye = torch.eye(degree + 1, dtype=torch.float64)
    torch.testing.assert_close(at_nodes @ coefficient_matrix(degree, "interpolation"), eye, rtol=0, atol=1e-13)
    printed = at_nodes @ coefficient_matrix(degree, "paper")
    torch.testing.assert_close(printed, (degree + 1) / 2 * eye + 0.5, rtol=0, atol=1e-12)


@given(st.integers(0, 12), st.integers(0, 100))
def test_interpolation_against_numpy(degree, seed):
    theta = np.random.default_rng(seed).normal(size=degree + 1)
    ours = coefficient_matrix(degree, "interpolation").numpy() @ theta
    theirs = np.polynomial.chebyshev.Chebyshev.interpolate(
        lambda x: np.polynomial.polynomial.polyval(x, theta), degree, domain=[-1, 1]
    ).coef
    at_nodes = np.polynomial.polynomial.polyval(chebyshev_nodes(degree).numpy(), theta)
    np.testing.assert_allclose(coefficient_matrix(degree, "interpolation").numpy() @ at_nodes, theirs, atol=1e-10)
    assert ours.shape == theirs.shape


def test_bases_by_name():
    assert {"chebyshev", "monomial", "legendre", "jacobi", "bernstein", "orthonormal"} <= set(BASES)
    assert all(get_basis(name).name == name for name in BASES)
    assert get_basis("legendre") == Legendre()
    basis = Jacobi(0.5, 0.25)
    assert get_basis(basis) is basis
