"""What a mini batch of nodes holds: against dense submatrices and the full batch."""

import numpy as np
import pytest
import scipy.sparse
import torch
import torch_geometric.nn
import torch_geometric.utils
from hypothesis import given
from hypothesis import strategies as st

from batch_examples import NODES, everywhere, gcn, linkx, task_of, with_sparse_features, with_weights
from chebnet2d.graph import SparseOperator, adjacency
from chebnet2d.training.batches import SAMPLINGS
from chebnet2d.training.tasks.node_batches import induced


@st.composite
def cut_matrices(draw):
    size = draw(st.integers(1, 12))
    seed = draw(st.integers(0, 10**6))
    nodes = draw(st.sets(st.integers(0, size - 1), min_size=1))
    return scipy.sparse.random_array((size, size), density=draw(st.sampled_from([0.0, 0.2, 0.9])), rng=seed), sorted(nodes)


class TestBatches:
    @given(cut_matrices())
    def test_the_induced_matrix_is_the_dense_submatrix(self, case):
        matrix, nodes = case
        matrix = scipy.sparse.csr_array(matrix)
        found = induced(matrix, np.array(nodes))
        assert found.has_sorted_indices
        np.testing.assert_array_equal(found.toarray(), matrix.toarray()[np.ix_(nodes, nodes)])

    @pytest.mark.parametrize("change", [lambda same: same, with_weights], ids=["plain", "weighted"])
    def test_an_induced_batch_is_torch_geometrics_subgraph(self, data, split, change):
        data = change(data)
        task = task_of(gcn(data), data, split, 50)
        nodes = task._cut(task.pool, 3)[1]
        x, edge_index, weight = task.source.inputs(nodes)
        expected, expected_weight = torch_geometric.utils.subgraph(
            torch.from_numpy(nodes), data.edge_index, data.get("edge_weight"), relabel_nodes=True, num_nodes=NODES
        )
        assert torch.equal(x, data.x[nodes])
        assert torch.equal(edge_index, expected)
        assert (weight is None) == (expected_weight is None)
        if weight is not None:
            torch.testing.assert_close(weight, expected_weight.float())

    def test_a_ready_operator_is_cut_as_it_is(self, data, split):
        operator = SparseOperator.from_scipy(scipy.sparse.csr_array(np.diag(np.arange(NODES)) + 1.0), symmetric=True)
        given_operator = data.clone()
        given_operator.edge_index = operator
        task = task_of(gcn(data), given_operator, split, 50)
        nodes = task._cut(task.pool, 1)[0]
        _, cut, weight = task.source.inputs(nodes)
        assert weight is None
        assert cut.symmetric
        torch.testing.assert_close(cut.to_dense(), operator.to_dense()[nodes][:, nodes])

    @pytest.mark.parametrize("sampling", SAMPLINGS)
    @pytest.mark.parametrize("batch_size", [7, 50, 10**6])
    def test_an_epoch_learns_from_every_training_node_once(self, data, split, sampling, batch_size):
        model = linkx(data) if sampling == "rows" else gcn(data)
        task = task_of(model, data, split, batch_size, 2, sampling)
        pool = torch.arange(NODES) if sampling == "induced" else split.train
        seen = np.concatenate(task._cut(task.pool, 5))
        assert sorted(seen) == pool.tolist()
        counted = []
        for rows, [batch] in task.training_batches(5):
            (x, _, _), y = batch.inputs, batch.y
            assert x.shape[0] == y.numel()
            assert (rows if sampling == "neighbours" else y.numel()) <= batch_size, "what is drawn comes on top"
            assert rows == int((y >= 0).sum())
            counted += [tuple(row) for row in x[y >= 0].tolist()]
        assert sorted(counted) == sorted(tuple(row) for row in data.x[split.train].tolist())

    def test_batches_are_of_even_size_and_follow_seed_and_epoch(self, data, split):
        def batches(seed, epoch):
            return [part.tolist() for part in task_of(gcn(data), data, split, 100, seed)._cut(np.arange(241), epoch)]

        assert [len(part) for part in batches(0, 1)] == [81, 80, 80]
        assert batches(0, 1) == batches(0, 1)
        assert batches(0, 1) != batches(0, 2)
        assert batches(0, 1) != batches(1, 1)

    @pytest.mark.parametrize(
        "change", [lambda same: same, with_weights, with_sparse_features], ids=["plain", "weights", "sparse"]
    )
    def test_rows_of_linkx_are_rows_of_the_full_answer(self, data, split, change):
        data = change(data)
        model = linkx(data, num_layers=3, adjacency_layers=2, feature_layers=2).double().train()
        x = data.x.to_dense().double()
        for _ in range(3):
            model(x, data.edge_index, data.get("edge_weight"))  # batch norm has something to remember
        task = task_of(model.eval(), data, split, 37)
        dense = adjacency(data.edge_index, data.get("edge_weight"), NODES).to_dense()
        full = model(x, SparseOperator.from_dense(dense)).detach()
        for nodes in task._cut(np.arange(NODES), 1):
            inputs = task.source.inputs(nodes)
            torch.testing.assert_close(inputs[1].to_dense(), dense[nodes], atol=1e-7, rtol=1e-7)
            torch.testing.assert_close(model(*inputs).detach(), full[nodes], atol=1e-5, rtol=1e-5)

    def test_gradients_of_row_batches_add_up_to_the_full_gradient(self, data):
        model = linkx(data, num_layers=1).double()  # one layer each: no batch norm
        task = task_of(model, data, everywhere(data), 60)
        total = [torch.zeros_like(parameter) for parameter in model.parameters()]
        for _, [batch] in task.training_batches(1):
            loss = torch.nn.functional.cross_entropy(model(*batch.inputs), batch.y, reduction="sum")
            for sum_so_far, part in zip(total, torch.autograd.grad(loss, list(model.parameters())), strict=True):
                sum_so_far += part
        loss = torch.nn.functional.cross_entropy(model(data.x.double(), data.edge_index), data.y, reduction="sum")
        for expected, found in zip(torch.autograd.grad(loss, list(model.parameters())), total, strict=True):
            torch.testing.assert_close(found, expected)
