"""The product in blocks, the operators of large graphs and the rows that are kept."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import large_operator, precompute
from chebnet2d.bases import operators as operators_module
from chebnet2d.bases import recurrence as recurrence_module
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.graph import edge_pairs as edge_pairs_module


class TestProduct:
    @settings(max_examples=25, deadline=None)
    @given(
        seed=st.integers(0, 10**6),
        nodes=st.integers(1, 80),
        edges=st.integers(0, 300),
        width=st.integers(1, 40),
        alpha=st.floats(-3, 3),
        beta=st.sampled_from([0.0, -1.0, 0.5]),
        rows=st.sampled_from([1, 7, 1 << 15]),
    )
    def test_it_is_that_of_dense_algebra(self, seed, nodes, edges, width, alpha, beta, rows):
        """Rows without entries, one row at a time, and an ``out`` that is full of NaN where beta is 0."""
        rng = np.random.default_rng(seed)
        index = torch.from_numpy(rng.integers(0, nodes, (2, edges)))
        operator = operator_of(index, None, torch.zeros(nodes, 1), owner="test")
        x = torch.from_numpy(rng.standard_normal((nodes, width)).astype(np.float32))
        before = torch.from_numpy(rng.standard_normal((nodes, width)).astype(np.float32))
        expected = alpha * (operator.to_dense().double() @ x.double()) + beta * before.double()
        out = torch.full_like(x, torch.nan) if beta == 0 else before.clone()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recurrence_module, "_ROWS", rows)
            found = recurrence_module.large_step(operator, x, out, alpha, beta)
        assert found is out
        torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=1e-5)

    def test_other_precisions_take_the_general_way(self):
        operator = operator_of(torch.tensor([[0, 1], [1, 2]]), None, torch.zeros(3, 1).double(), owner="test")
        x = torch.rand(3, 2).double()
        out = torch.full_like(x, torch.nan)
        torch.testing.assert_close(recurrence_module.large_step(operator, x, out, 2.0), 2 * operator.to_dense() @ x)


class TestOperator:
    @pytest.mark.parametrize("kind", ["L_hat", "P", "P~"])
    @pytest.mark.parametrize("chunk", [7, 1 << 22])
    def test_it_is_bit_for_bit_the_general_one(self, data, monkeypatch, kind, chunk):
        monkeypatch.setattr(operators_module, "_CHUNK", chunk)
        general = operator_of(data.edge_index.clone(), None, data.x, kind=kind, owner="test").csr
        lean = large_operator(data.edge_index, 300, kind).csr
        for part in ("crow_indices", "col_indices", "values"):
            assert torch.equal(getattr(lean, part)(), getattr(general, part)())

    @settings(max_examples=60, deadline=None)
    @given(
        seed=st.integers(0, 10**6),
        nodes=st.integers(1, 30),
        edges=st.integers(0, 120),
        kind=st.sampled_from(["L_hat", "P", "P~"]),
        chunk=st.sampled_from([5, 1 << 22]),
    )
    def test_edges_in_any_order(self, seed, nodes, edges, kind, chunk):
        """Repetitions, which weigh, loops, one direction or both: bit for bit the general matrix, which scipy builds."""
        index = torch.from_numpy(np.random.default_rng(seed).integers(0, nodes, (2, edges)))
        general = operator_of(index.clone(), None, torch.zeros(nodes, 1), kind=kind, owner="test").csr
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(operators_module, "_CHUNK", chunk)
            patch.setattr(edge_pairs_module, "_CHUNK", chunk)
            patch.setattr(operators_module, "operator_of", None)  # the lean way is taken
            lean = large_operator(index, nodes, kind).csr
        for part in ("crow_indices", "col_indices", "values"):
            assert torch.equal(getattr(lean, part)(), getattr(general, part)())

    @pytest.mark.parametrize("spoil", ["unsorted", "one direction", "twice", "loop"])
    def test_other_edge_lists_take_the_general_way(self, data, spoil):
        edges = data.edge_index
        if spoil == "unsorted":
            edges = edges[:, torch.randperm(edges.shape[1])]
        elif spoil == "one direction":
            edges = torch.cat([edges[:, :5], edges[:, 6:]], dim=1)
        elif spoil == "twice":
            edges = torch.cat([edges[:, :1], edges], dim=1)
        else:
            edges = torch.cat([torch.zeros(2, 1, dtype=torch.int64), edges], dim=1)
        assert not operators_module._canonical(edges, 300)
        expected = operator_of(edges, None, data.x, owner="test").to_dense()
        torch.testing.assert_close(large_operator(edges, 300).to_dense(), expected)

    def test_weights_and_isolated_nodes(self):
        edges = torch.tensor([[0, 1], [1, 0]])
        assert large_operator(edges, 4).to_dense()[:2, :2].tolist() == [[0, -1], [-1, 0]]
        weight = torch.tensor([2.0, 2.0])
        weighted = large_operator(edges, 4, "P", weight).to_dense()
        assert weighted.sum() == 2


class TestRows:
    def test_labels_and_parts_are_stored_with_the_rows(self, data, tmp_path):
        made = data.clone()
        made.train_mask = torch.zeros(300, 2, dtype=torch.bool)
        made.train_mask[:100, 0] = made.train_mask[50:150, 1] = True
        made.val_mask = torch.zeros(300, 2, dtype=torch.bool)
        made.val_mask[150:200] = True
        made.test_mask = torch.zeros(300, 1, dtype=torch.bool)
        made.test_mask[200:] = True
        bases = precompute(made, out=tmp_path / "b", degree=1)
        assert bases.labels.tolist() == made.y[bases.nodes].tolist()
        assert (bases.parts[:, 0] == 1).sum() == (made.y[:100] >= 0).sum()
        assert bases.parts[:, 1].tolist() == [0] * 45 + [1] * 90 + [2] * 45 + [3] * 90
        assert (bases.num_classes, bases.metric, bases.manifest.name) == (3, "accuracy", "csbm")

    def test_nodes_that_are_not_stored_are_told(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "b", degree=1)
        with pytest.raises(InputError, match=r"nodes must be stored, got node 10, of which there is no row. .*rows='all'"):
            bases.terms(torch.tensor([1, 10]))
        with pytest.raises(InputError, match="nodes must be from 0 to 299"):
            bases.terms(torch.tensor([300]))
        with pytest.raises(InputError, match="nodes must be a vector of node indices"):
            bases.terms(torch.tensor([0.5]))


class TestReadyOperators:
    """A graph that comes as an operator is recorded as what it is, alone and in a ``Data``."""

    @pytest.mark.parametrize("asked", ["L_hat", "P"])
    @pytest.mark.parametrize("kind", ["L_hat", "P", "P~", None])
    def test_the_manifest_has_the_kind_that_it_was_made_as(self, tmp_path, kind, asked):
        data = chebnet2d.data.load("csbm", nodes=40, features=4, seed=0)
        operator = large_operator(data.edge_index, 40, kind or "P")
        if kind is None:  # a matrix of the user's own, of which nothing is known but what is asked for
            operator = SparseOperator(operator.csr, symmetric=True)
        alone = precompute(operator, data.x, out=tmp_path / "alone", degree=1, operator=asked)
        data.edge_index = operator
        inside = precompute(data, out=tmp_path / "data", degree=1, operator=asked)
        expected = kind or ("given" if asked == "L_hat" else asked)
        assert (alone.manifest.operator, inside.manifest.operator) == (expected, expected)

    def test_operators_keep_their_kind(self):
        data = chebnet2d.data.load("csbm", nodes=40, features=4, seed=0)
        made = operator_of(data.edge_index, None, data.x, kind="P~", owner="test")
        assert made.kind == made.to(dtype=torch.float64).kind == "P~"
        assert SparseOperator.from_dense(data.x).kind is None

    def test_one_that_is_not_symmetric_is_refused_in_a_data_too(self, tmp_path):
        data = chebnet2d.data.load("csbm", nodes=40, features=4, seed=0)
        data.edge_index = operator_of(data.edge_index, None, data.x, kind="D~^-1 A~", owner="test")
        with pytest.raises(InputError, match="the operator must be symmetric"):
            precompute(data, out=tmp_path / "b", degree=1)
