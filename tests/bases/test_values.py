"""Bases on disk. The oracle is dense linear algebra: polynomials of a matrix through numpy's own evaluation."""

import json

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import Bases, precompute
from chebnet2d.bases import precompute as precompute_function
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.polynomials import Bernstein, Chebyshev, Jacobi, Legendre, Monomial


def dense_operator(data, kind="L_hat"):
    """Normalised adjacency by numpy alone."""
    nodes = data.num_nodes
    a = np.zeros((nodes, nodes))
    a[data.edge_index[0], data.edge_index[1]] = 1
    if kind == "P~":
        a += np.eye(nodes)
    degree = a.sum(1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    p = scale[:, None] * a * scale
    return -p if kind == "L_hat" else p


def at_eigenvalues(evaluate, matrix, x, degree):
    """(D + 1) x N x F: p_k(M) x by eigendecomposition and scipy's polynomials."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return np.stack([vectors @ (evaluate(k, eigenvalues)[:, None] * (vectors.T @ x)) for k in range(degree + 1)])


EVALUATIONS = {
    "chebyshev": (Chebyshev(), scipy.special.eval_chebyt),
    "legendre": (Legendre(), scipy.special.eval_legendre),
    "monomial": (Monomial(), lambda k, x: x**k),
    "jacobi": (Jacobi(0.5, -0.25), lambda k, x: scipy.special.eval_jacobi(k, 0.5, -0.25, x)),
    "bernstein": (Bernstein(), lambda k, x: scipy.special.binom(5, k) * ((1 + x) / 2) ** k * ((1 - x) / 2) ** (5 - k)),
}


class TestValues:
    @pytest.mark.parametrize("name", list(EVALUATIONS))
    @pytest.mark.parametrize("kind", ["L_hat", "P~"])
    def test_terms_are_those_of_dense_algebra(self, data, tmp_path, name, kind):
        basis, evaluate = EVALUATIONS[name]
        bases = precompute(data, out=tmp_path / "b", basis=basis, degree=5, operator=kind, block=3)
        kept = (data.y >= 0).nonzero().flatten()
        assert bases.nodes.tolist() == kept.tolist()
        expected = at_eigenvalues(evaluate, dense_operator(data, kind), data.x.double().numpy(), 5)[:, kept]
        found = bases.terms(kept).double().numpy().transpose(1, 0, 2)
        np.testing.assert_allclose(found, expected, atol=2e-5)
        assert type(bases.basis) is type(basis)
        assert bases.basis == basis

    def test_the_orthonormal_basis_is_orthonormal_in_every_column(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "b", basis="orthonormal", degree=4, rows="all", block=2)
        terms = bases.terms(torch.arange(300)).double()
        for column in range(7):
            gram = terms[:, :, column].T @ terms[:, :, column]
            torch.testing.assert_close(gram, torch.eye(5, dtype=torch.float64), atol=1e-4, rtol=0)

    def test_sparse_features_give_the_same_files_as_dense_ones(self, data, tmp_path):
        x = torch.where(data.x > 1, data.x, 0.0)
        dense = precompute(data, x, out=tmp_path / "dense", degree=3, block=2)
        for name, sparse in (("csr", x.to_sparse_csr()), ("operator", SparseOperator.from_dense(x))):
            found = precompute(data, sparse, out=tmp_path / name, degree=3, block=2)
            for index in range(4):
                file = f"block-{index:04d}.npy"
                assert (found.folder / file).read_bytes() == (dense.folder / file).read_bytes()

    def test_widths_do_not_change_the_numbers(self, data, tmp_path):
        rows = torch.arange(300)
        one = precompute(data, out=tmp_path / "a", degree=4, rows="all", block=7)
        many = precompute(data, out=tmp_path / "b", degree=4, rows="all", block=2)
        assert len(many.manifest.blocks) == 4
        assert [len(one.manifest.blocks), one.manifest.blocks] == [1, [[0, 7]]]
        torch.testing.assert_close(one.terms(rows), many.terms(rows), atol=1e-6, rtol=0)

    def test_half_precision_is_the_rounded_single_precision(self, data, tmp_path):
        full = precompute(data, out=tmp_path / "a", degree=4)
        half = precompute(data, out=tmp_path / "b", degree=4, dtype="float16")
        assert torch.equal(half.read(torch.arange(50)), full.read(torch.arange(50)).half().float())
        assert half.nbytes * 2 == full.nbytes

    @settings(max_examples=15, deadline=None)
    @given(
        seed=st.integers(0, 10**6),
        nodes=st.integers(1, 600),
        features=st.integers(1, 5),
        degree=st.integers(0, 4),
        block=st.integers(1, 6),
        half=st.booleans(),
    )
    def test_any_rows_in_any_order_come_back(self, tmp_path_factory, seed, nodes, features, degree, block, half):
        rng = np.random.default_rng(seed)
        edges = torch.from_numpy(rng.integers(0, nodes, (2, 3 * nodes)))
        operator = operator_of(edges, None, torch.zeros(nodes, 1), owner="test")
        x = torch.from_numpy(rng.standard_normal((nodes, features)).astype(np.float32))
        rows = rng.permutation(nodes)[: max(1, nodes * 2 // 3)]
        out = tmp_path_factory.mktemp("bases")
        dtype = "float16" if half else "float32"
        bases = precompute(operator, x, out=out, degree=degree, rows=rows, block=block, dtype=dtype)
        expected = torch.stack(list(Chebyshev().terms(lambda v: operator @ v, x, degree)), dim=1)
        some = torch.from_numpy(rng.permutation(rows)[: max(1, rows.size // 2)])
        tolerance = 2e-3 if half else 1e-5
        torch.testing.assert_close(bases.terms(some), expected[some], atol=4 * tolerance, rtol=tolerance)

    def test_files_are_plain_numpy_arrays(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "b", degree=2, rows="all")
        block = np.load(tmp_path / "b" / "block-0000.npy", mmap_mode="r", allow_pickle=False)
        assert block.shape == (2, 3, 256, 7)
        np.testing.assert_array_equal(block[1, :, 4], bases.terms(torch.tensor([260]))[0].numpy())
        assert not (tmp_path / "b" / "plan.json").exists()

    def test_a_device_that_is_none_leaves_nothing_behind(self, tmp_path):
        with pytest.raises(InputError, match="precompute: device must be 'cpu', 'cuda' or 'cuda:N', got 'gpu'"):
            precompute(chebnet2d.data.load("csbm"), out=tmp_path / "b", degree=2, device="gpu")
        assert not (tmp_path / "b").exists()

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
    def test_a_gpu_computes_the_same(self, data, tmp_path):
        here = precompute(data, out=tmp_path / "a", degree=4)
        there = precompute(data, out=tmp_path / "b", degree=4, device="cuda")
        torch.testing.assert_close(here.read(torch.arange(50)), there.read(torch.arange(50)), atol=1e-5, rtol=1e-5)


def test_the_manifest_says_what_it_is(data, tmp_path):
    precompute_function(data, out=tmp_path / "b", degree=2, basis=Jacobi(0.5, 0.25))
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert manifest["basis"] == "jacobi"
    assert manifest["parameters"] == {"a": 0.5, "b": 0.25}
    assert manifest["version"] == chebnet2d.__version__
    assert repr(Bases.open(tmp_path / "b")) == "Bases(csbm: jacobi of L_hat, degree 2, 270 rows x 7 features, float32)"
