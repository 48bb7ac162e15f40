"""Operators of a graph against dense formulas, torch_geometric and networkx."""

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.utils import get_laplacian, to_dense_adj

from chebnet2d.graph import SparseOperator, Spectrum, adjacency, laplacian, normalized_adjacency, operator_of, shifted_laplacian
from example_graphs import graph, l_hat, weighted


def edge_lists():
    nodes = st.integers(1, 12)
    return nodes.flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.floats(0, 5, width=32)), max_size=30),
        )
    )


@given(edge_lists())
def test_adjacency_is_the_symmetrised_sum_without_loops(case):
    nodes, edges = case
    dense = np.zeros((nodes, nodes))
    for i, j, w in edges:
        dense[i, j] += w
    np.fill_diagonal(dense, 0)
    expected = np.maximum(dense, dense.T)
    index = np.array([[i, j] for i, j, _ in edges]).reshape(-1, 2).T
    weight = np.array([w for *_, w in edges])
    ours = adjacency(index.astype(np.int64), weight, nodes)
    np.testing.assert_array_equal(ours.to_dense().numpy(), expected)
    assert ours.symmetric
    assert ours.values.numel() == np.count_nonzero(expected), "weights of zero are no edges"


@given(edge_lists())
def test_normalised_operators_against_dense_formulas(case):
    nodes, edges = case
    index = torch.tensor([[i, j] for i, j, _ in edges], dtype=torch.long).reshape(-1, 2).T
    a = adjacency(index, torch.tensor([w for *_, w in edges]), nodes)
    dense = a.to_dense()
    degree = dense.sum(1)
    scale = torch.where(degree > 0, degree.clamp(min=1e-300) ** -0.5, torch.zeros_like(degree))
    p = scale[:, None] * dense * scale
    torch.testing.assert_close(normalized_adjacency(a, dtype=torch.float64).to_dense(), p, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(
        laplacian(a, dtype=torch.float64).to_dense(), torch.eye(nodes).double() - p, rtol=1e-12, atol=1e-12
    )
    shifted = shifted_laplacian(a, dtype=torch.float64).to_dense()
    torch.testing.assert_close(shifted, -p, rtol=1e-12, atol=1e-12)
    assert torch.equal(shifted, shifted.T), "exactly symmetric, not up to rounding"
    assert torch.linalg.eigvalsh(shifted).abs().max() <= 1 + 1e-12


def test_laplacian_agrees_with_torch_geometric_and_networkx():
    edge_index, weight, nodes = weighted()
    a = adjacency(edge_index, weight, nodes)
    row, col = a.to_scipy().nonzero()
    both = torch.tensor(np.stack([row, col]), dtype=torch.long)
    index, value = get_laplacian(both, a.values, normalization="sym", num_nodes=nodes, dtype=torch.float64)
    theirs = to_dense_adj(index, edge_attr=value, max_num_nodes=nodes)[0]
    torch.testing.assert_close(laplacian(a, dtype=torch.float64).to_dense(), theirs)
    connected = [n for n in range(nodes) if a.to_dense()[n].any()]  # networkx has L_ii = 0 on isolated nodes
    graph = networkx.from_numpy_array(a.to_dense().numpy())
    reference = networkx.normalized_laplacian_matrix(graph).toarray()[np.ix_(connected, connected)]
    np.testing.assert_allclose(
        laplacian(a, dtype=torch.float64).to_dense().numpy()[np.ix_(connected, connected)], reference, atol=1e-14
    )


def test_gcn_operator_has_self_loops():
    edge_index, weight, nodes = weighted()
    a = adjacency(edge_index, weight, nodes)
    with_loops = a.to_dense() + torch.eye(nodes)
    scale = with_loops.sum(1) ** -0.5
    ours = normalized_adjacency(a, add_self_loops=True, dtype=torch.float64).to_dense()
    torch.testing.assert_close(ours, scale[:, None] * with_loops * scale)


def test_isolated_nodes_have_an_empty_row():
    a = adjacency(torch.tensor([[0], [1]]), num_nodes=4)
    p = normalized_adjacency(a).to_dense()
    assert not p[2:].any()
    assert torch.isfinite(p).all()


def test_no_edges_and_one_node():
    operator = shifted_laplacian(adjacency(torch.empty(2, 0, dtype=torch.long), num_nodes=1))
    assert torch.equal(operator @ torch.ones(1, 3), torch.zeros(1, 3))


def test_operator_conversions():
    operator = l_hat()
    assert operator.to(dtype=torch.float64) is operator
    assert operator.to(dtype=torch.float32).dtype == torch.float32
    assert operator.T is operator
    again = SparseOperator.from_torch(operator.csr)
    torch.testing.assert_close(again.to_dense(), operator.to_dense())
    torch.testing.assert_close(SparseOperator.from_dense(operator.to_dense()).to_dense(), operator.to_dense())
    assert "17 x 17" in repr(operator)


def test_the_product_with_a_vector():
    operator, x = l_hat(), torch.randn(17, dtype=torch.float64)
    torch.testing.assert_close(operator @ x, operator.to_dense() @ x)


def test_spectrum_transform_and_filter():
    operator = l_hat()
    spectrum = Spectrum.of(operator)
    x = torch.randn(17, 3, dtype=torch.float64)
    torch.testing.assert_close(spectrum.inverse(spectrum.transform(x)), x)
    assert spectrum.eigenvalues.abs().max() <= 1 + 1e-12
    dense = operator.to_dense()
    torch.testing.assert_close(spectrum.filter(x, lambda v: v**2), dense @ dense @ x)
    torch.testing.assert_close(spectrum.filter(x, torch.exp), torch.linalg.matrix_exp(dense) @ x)
    per_channel = torch.stack([spectrum.eigenvalues, spectrum.eigenvalues**2, torch.ones(17).double()], dim=1)
    expected = torch.stack([dense @ x[:, 0], dense @ dense @ x[:, 1], x[:, 2]], dim=1)
    torch.testing.assert_close(spectrum.filter(x, per_channel), expected)
    pairs = torch.randn(17, 3, 2, dtype=torch.float64)
    u = spectrum.eigenvectors
    expected = torch.stack([sum(u @ torch.diag(pairs[:, c, j]) @ u.T @ x[:, c] for c in range(3)) for j in range(2)], dim=1)
    torch.testing.assert_close(spectrum.filter(x, pairs), expected)


@pytest.mark.parametrize("which", ["duplicates", "self_loops", "directed", "isolated"])
def test_each_repair_can_be_refused(which):
    edges = {
        "duplicates": [[0, 0, 1, 1], [1, 1, 0, 0]],
        "self_loops": [[0, 0, 1], [0, 1, 0]],
        "directed": [[0], [1]],
        "isolated": [[0, 1], [1, 0]],
    }[which]
    nodes = 3 if which == "isolated" else 2
    adjacency(torch.tensor(edges), num_nodes=nodes)
    with pytest.raises(ValueError, match=f"{which}='refuse'"):
        adjacency(torch.tensor(edges), num_nodes=nodes, **{which: "refuse"})


def dense_adjacency(edge_index, weight, nodes):
    return to_dense_adj(edge_index, edge_attr=weight, max_num_nodes=nodes)[0]


def test_adjacency_and_row_stochastic_operator_against_dense():
    edge_index, weight, nodes, x = graph()
    a = dense_adjacency(edge_index, weight, nodes)
    torch.testing.assert_close(operator_of(edge_index, weight, x, kind="A", owner="t").to_dense(), a)
    loops = a + torch.eye(nodes, dtype=a.dtype)
    wanted = loops / loops.sum(dim=1, keepdim=True)
    torch.testing.assert_close(operator_of(edge_index, weight, x, kind="D~^-1 A~", owner="t").to_dense(), wanted)
