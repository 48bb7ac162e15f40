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

    @pytest.mark.parametrize("way", ["data", "numpy", "inference"])
    @pytest.mark.parametrize("written", ["edge_index", "weight"])
    def test_a_write_that_torch_does_not_count_is_noticed(self, written, way):
        edge_index, weight, _ = weighted()
        if way == "inference":
            with torch.inference_mode():
                edge_index, weight = edge_index.clone(), weight.clone()
        tensor, change = (edge_index, 11) if written == "edge_index" else (weight, 3.0)
        before = self.operator(edge_index, weight)
        assert self.operator(edge_index, weight) is before
        view = {"data": lambda: tensor.data, "numpy": tensor.numpy, "inference": lambda: tensor}[way]()
        with torch.inference_mode(way == "inference"):
            view.reshape(-1)[0] = change
        after = self.operator(edge_index, weight)
        fresh = self.operator(edge_index.clone(), weight.clone())
        assert torch.equal(after.to_dense(), fresh.to_dense())
        assert not torch.equal(after.to_dense(), before.to_dense())

    def test_a_write_to_the_values_of_a_sparse_graph_is_noticed(self):
        edge_index, weight, nodes = weighted()
        a = adjacency(edge_index, weight, nodes).csr
        for sparse in (a, a.to_sparse_csc(), a.to_sparse_coo().coalesce()):
            before = self.operator(sparse)
            assert self.operator(sparse) is before
            sparse.values().numpy()[0] *= 3.0
            assert not torch.equal(self.operator(sparse).to_dense(), before.to_dense())

    def test_a_few_weights_of_one_graph_are_kept(self):
        edge_index, weight, _ = weighted()
        weights = [None, weight, weight.clone(), weight.clone()]
        first = [self.operator(edge_index, each) for each in weights]
        for _ in range(2):
            for each, operator in zip(weights, first, strict=True):
                assert self.operator(edge_index, each) is operator
        extra = weight.clone()
        self.operator(edge_index, extra)
        assert self.operator(edge_index, weights[0]) is not first[0], "the oldest makes room"
        del extra, weights, first, each, operator
        self.operator(edge_index)
        self.operator(edge_index, weight.clone())
        kept = operator_cache._remembered[id(edge_index)][1]
        assert len(kept) <= 3, "weights that are gone are not kept"

    def test_inside_of_a_transform_nothing_is_kept_that_belongs_to_it(self):
        edge_index, weight, _ = weighted()
        x = self.x()
        inside = torch.func.grad(lambda a: (self.operator(edge_index, weight) @ a).sum())(x)
        assert torch.equal(inside, torch.func.grad(lambda a: (self.operator(edge_index.clone(), weight) @ a).sum())(x))
        assert (self.operator(edge_index, weight) @ x).shape == x.shape
        as_argument = torch.func.grad(lambda a, e, w: (self.operator(e, w) @ a).sum())
        assert torch.equal(inside, as_argument(x, edge_index, weight))
        with pytest.raises(
            InputError, match="test: edge_index must be a plain tensor here, the same for the whole of a torch.func"
        ):
            torch.func.vmap(lambda e: operator_of(e, None, x, owner="test"))(torch.stack([edge_index, edge_index]))

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
