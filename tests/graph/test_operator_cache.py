"""What is made of a graph is made once, until the graph changes."""

import gc

import pytest
import torch

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator, adjacency, derived_operator, operator_cache, operator_of
from example_graphs import graph, weighted


class TestRememberedOperators:
    def x(self, nodes=17):
        return torch.randn(nodes, 2)

    def operator(self, edge_index, weight=None, nodes=17):
        return operator_of(edge_index, weight, self.x(nodes), owner="test")

    def test_same_tensor_is_not_rebuilt(self):
        edge_index, weight, _ = weighted()
        assert self.operator(edge_index, weight) is self.operator(edge_index, weight)

    def test_written_tensor_is_rebuilt(self):
        edge_index, weight, _ = weighted()
        first = self.operator(edge_index, weight)
        edge_index[0, 0] = 11
        second = self.operator(edge_index, weight)
        assert second is not first
        weight[0] = 3.0
        assert self.operator(edge_index, weight) is not second

    def test_other_weight_is_another_operator(self):
        edge_index, weight, _ = weighted()
        assert not torch.equal(self.operator(edge_index).to_dense(), self.operator(edge_index, weight).to_dense())
        assert self.operator(edge_index, weight.clone()) is not self.operator(edge_index, weight)

    def test_other_number_of_nodes_is_another_operator(self):
        edge_index, _, _ = weighted()
        assert self.operator(edge_index, nodes=20).shape == (20, 20)
        assert self.operator(edge_index, nodes=17).shape == (17, 17)

    def test_nothing_is_kept_for_dead_tensors(self):
        edge_index, _, _ = weighted()
        name = id(edge_index)  # not a count: what earlier tests left to the collector may go at any time
        self.operator(edge_index)
        assert name in operator_cache._remembered
        del edge_index
        gc.collect()
        assert name not in operator_cache._remembered

    def test_sparse_tensor_and_edge_index_agree(self):
        edge_index, weight, nodes = weighted()
        a = adjacency(edge_index, weight, nodes)
        for sparse in (a.csr, a.csr.to_sparse_coo()):
            torch.testing.assert_close(self.operator(sparse).to_dense(), self.operator(edge_index, weight).to_dense())


def test_what_is_derived_from_a_graph_is_kept_until_the_graph_changes():
    edge_index, weight, nodes, _ = graph()
    calls = []

    def count(a: SparseOperator) -> int:
        calls.append(a.nnz)
        return len(calls)

    assert derived_operator(edge_index, weight, nodes, "count", count, owner="t") == 1
    assert derived_operator(edge_index, weight, nodes, "count", count, owner="t") == 1
    assert derived_operator(edge_index, weight, nodes, "other", count, owner="t") == 2
    edge_index[:, 0] = edge_index[:, 1]
    assert derived_operator(edge_index, weight, nodes, "count", count, owner="t") == 3
    operator = adjacency(edge_index, weight, nodes)
    assert derived_operator(operator, None, nodes, "count", count, owner="t") == 4
    assert derived_operator(operator, None, nodes, "count", count, owner="t") == 4
    with pytest.raises(InputError, match="t: the operator must be 3 x 3, as x has rows"):
        derived_operator(operator, None, 3, "count", count, owner="t")
    with pytest.raises(InputError, match="t: edge_index must be a tensor"):
        derived_operator([[0], [1]], None, 3, "count", count, owner="t")  # type: ignore[arg-type]
