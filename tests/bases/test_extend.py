"""Bases of a changed graph by ``extend``. The oracle is ``precompute`` of it, which is tested against dense algebra."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from chebnet2d import InputError
from chebnet2d.bases import Bases, BasesSpec, PrecomputeProgress, extend, precompute
from chebnet2d.bases.marks import marks_of
from chebnet2d.bases.operators import large_operator
from chebnet2d.graph import SparseOperator, operator_of

extending = sys.modules["chebnet2d.bases.extend"]  # the name in the package is that of the function


def graph_of(pairs, x, ids=None):
    """An undirected graph; ``pairs``: a set of (low, high)."""
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    edges = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
    data = Data(x=torch.as_tensor(x, dtype=torch.float32), edge_index=edges, num_nodes=len(x))
    data.node_ids = np.arange(len(x)) if ids is None else np.asarray(ids)
    return data


def ring(nodes, features=5, seed=0):
    """Of large diameter: a change reaches few nodes."""
    x = np.random.default_rng(seed).normal(size=(nodes, features))
    return {(k, k + 1) for k in range(nodes - 1)} | {(0, nodes - 1)}, x


def changed_ring(nodes=400):
    """A ring, and the same with a new node, an edge less, other features of a node, and a node without edges."""
    pairs, x = ring(nodes)
    after = np.concatenate([x, np.ones((2, x.shape[1]))])
    after[nodes // 2] += 1
    return graph_of(pairs, x), graph_of((pairs - {(nodes // 8, nodes // 8 + 1)}) | {(nodes // 4, nodes)}, after)


def all_terms(bases):
    return bases.terms(torch.arange(bases.num_nodes))


class TestValues:
    @pytest.mark.parametrize("degree", [0, 1, 2, 5, 10])
    @pytest.mark.parametrize("operator", ["L_hat", "P~"])
    def test_the_same_bits_as_computed_anew(self, tmp_path, degree, operator):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=degree, operator=operator, rows="all")
        found = extend(known, after, out=tmp_path / "b")
        whole = precompute(after, out=tmp_path / "c", degree=degree, operator=operator, rows="all")
        assert found.anew is None
        assert torch.equal(all_terms(found.bases), all_terms(whole))
        assert found.bases.manifest == whole.manifest
        nodes = torch.tensor([401, 0, 51, 7, 400])
        assert torch.equal(found.bases.terms(nodes), whole.terms(nodes))
        assert torch.equal(found.bases.read_term(nodes, degree, 1, 4), whole.read_term(nodes, degree, 1, 4))
        found.bases.forget()

    @pytest.mark.parametrize("basis", ["chebyshev", "monomial", "legendre", "jacobi"])
    def test_every_three_term_basis_and_other_blocks(self, tmp_path, basis):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=4, basis=basis, rows="all", block=2)
        found = extend(known, after, out=tmp_path / "b", block=3)
        whole = precompute(after, out=tmp_path / "c", degree=4, basis=basis, rows="all")
        assert found.anew is None
        torch.testing.assert_close(all_terms(found.bases), all_terms(whole), atol=1e-6, rtol=0)

    def test_only_rows_within_reach_are_computed(self, tmp_path):
        """Of a new leaf at node 100: itself and 101, 100, 99 have other rows of M, from which two hops are left at degree 3."""
        pairs, x = ring(400)
        known = precompute(graph_of(pairs, x), out=tmp_path / "a", degree=3, rows="all")
        after = graph_of(pairs | {(100, 400)}, np.concatenate([x, x[:1]]))
        found = extend(known, after, out=tmp_path / "b")
        assert (found.changed, found.gone, found.computed) == (4, 0, 8)
        assert found.share == pytest.approx((3 * (2 + 3 + 2 + 1) + 2 * (2 + 2) + 1 * (2 + 2)) / (3 * 802)), (
            "entries of rows times degrees"
        )
        x = x.copy()
        x[7, 0] += 1
        found = extend(known, graph_of(pairs, x), out=tmp_path / "c")
        assert (found.changed, found.computed) == (1, 7)

    def test_nodes_are_told_by_ids_in_any_order(self, tmp_path):
        before, after = changed_ring()
        order = np.random.default_rng(1).permutation(402)
        place = np.argsort(order)  # node k of ``after`` is number place[k] here
        shuffled = graph_of({(0, 1)}, after.x[order])
        shuffled.edge_index, shuffled.node_ids = torch.from_numpy(place)[after.edge_index], np.array([f"{k}" for k in order])
        known = precompute(before, out=tmp_path / "a", degree=6, rows="all")
        found = extend(known, shuffled, out=tmp_path / "b")
        whole = precompute(after, out=tmp_path / "c", degree=6, rows="all")
        assert found.anew is None
        assert found.share < 0.3
        torch.testing.assert_close(all_terms(found.bases), all_terms(whole)[order], atol=1e-6, rtol=0)

    def test_nodes_that_are_gone(self, tmp_path):
        """The first node is: every other one has a new number."""
        pairs, x = ring(300)
        known = precompute(graph_of(pairs, x), out=tmp_path / "a", degree=4, rows="all")
        left = graph_of({(a - 1, b - 1) for a, b in pairs if a > 0}, x[1:], np.arange(1, 300))
        found = extend(known, left, out=tmp_path / "b")
        assert (found.anew, found.changed, found.gone) == (None, 4, 1)
        whole = precompute(left, out=tmp_path / "c", degree=4, rows="all")
        assert torch.equal(all_terms(found.bases), all_terms(whole))

    def test_rows_that_are_not_stored_are_computed(self, tmp_path):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=4, rows=np.arange(399, 60, -1))
        found = extend(known, after, out=tmp_path / "b")
        assert found.anew is None
        whole = precompute(after, out=tmp_path / "c", degree=4, rows="all")
        torch.testing.assert_close(all_terms(found.bases), all_terms(whole), atol=1e-6, rtol=0)

    def test_labels_and_fixed_splits_are_those_of_the_new_graph(self, tmp_path):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        after.y = torch.arange(402) % 3
        for number, part in enumerate(("train", "val", "test")):
            after[f"{part}_mask"] = torch.arange(402) % 4 == number
        found, whole = extend(known, after, out=tmp_path / "b").bases, precompute(after, out=tmp_path / "c", degree=2)
        assert torch.equal(found.labels, whole.labels)
        assert torch.equal(found.parts, whole.parts)
        assert found.num_classes == 3

    def test_nothing_to_compute(self, tmp_path):
        """A node without edges is gone, another graph with the same rows for the rest."""
        _, before = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=3, rows="all")
        after = graph_of({tuple(pair) for pair in before.edge_index.T.tolist() if pair[0] < pair[1]}, before.x[:401])
        found = extend(known, after, out=tmp_path / "b")
        assert (found.changed, found.gone, found.share) == (0, 1, 0)
        assert torch.equal(all_terms(found.bases), all_terms(known)[:401])

    def test_edges_with_weights_and_sparse_features(self, tmp_path):
        before, after = changed_ring()
        for data in (before, after):
            data.x[data.x < 0] = 0
            data.edge_weight = 1.0 + (data.edge_index.sum(dim=0) % 3)
        known = precompute(before, out=tmp_path / "a", degree=4, rows="all")
        sparse = SparseOperator.from_dense(after.x)
        found = extend(known, after, sparse, out=tmp_path / "b")
        assert found.anew is None
        assert found.share < 0.3
        whole = precompute(after, out=tmp_path / "c", degree=4, rows="all")
        torch.testing.assert_close(all_terms(found.bases), all_terms(whole), atol=1e-6, rtol=0)


@st.composite
def changes(draw):
    """Two graphs with common nodes: edges and nodes come and go, features change, some nodes have no edges."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes = draw(st.integers(2, 60))
    count = draw(st.integers(0, 2 * nodes))

    def pairs(number, size):
        return {(min(a, b), max(a, b)) for a, b in rng.integers(0, size, (number, 2)).tolist() if a != b}

    edges = pairs(count, nodes)
    x = rng.normal(size=(nodes, 3))
    added = draw(st.integers(0, 3))
    gone = set(rng.permutation(nodes)[: draw(st.integers(0, 2))].tolist()) if nodes > 4 else set()
    kept = [k for k in range(nodes + added) if k not in gone]
    number = {k: i for i, k in enumerate(kept)}
    dropped = set(sorted(edges)[: draw(st.integers(0, 2))])
    later = (edges - dropped) | pairs(draw(st.integers(0, 3)), nodes + added)
    later = {(number[a], number[b]) for a, b in later if a in number and b in number}
    after = np.concatenate([x, rng.normal(size=(added, 3))])
    after[rng.integers(0, nodes, draw(st.integers(0, 2)))] += 1
    return graph_of(edges, x), graph_of(later, after[kept], kept)


@settings(max_examples=80, deadline=None)
@given(changes(), st.sampled_from([0, 1, 2, 3, 6]), st.sampled_from(["chebyshev", "legendre"]), st.sampled_from(["L_hat", "P~"]))
def test_any_change(graphs, degree, basis, operator):
    """With every share of the work allowed, so that rows are always reused. Nodes keep their order: the bits are the same."""
    before, after = graphs
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(extending, "MOST", 1.0)
        asked = {"degree": degree, "basis": basis, "operator": operator, "rows": "all"}
        known = precompute(before, out=Path(folder) / "a", **asked)
        found = extend(known, after, out=Path(folder) / "b")
        whole = precompute(after, out=Path(folder) / "c", **asked)
        assert found.anew is None
        assert torch.equal(all_terms(found.bases), all_terms(whole))


class TestChoice:
    def test_a_change_that_reaches_far(self, tmp_path):
        """Every node is a hop from the middle of a star."""
        x = np.random.default_rng(0).normal(size=(100, 4))
        star = {(0, k) for k in range(1, 100)}
        known = precompute(graph_of(star, x), out=tmp_path / "a", degree=3, rows="all")
        after = graph_of(star | {(0, 100)}, np.concatenate([x, x[:1]]))
        found = extend(known, after, out=tmp_path / "b")
        assert str(found) == (
            "bases: all computed anew, since 101 of 101 nodes are new or have other edges or features, which reaches more than "
            "a quarter of the work"
        )
        whole = precompute(after, out=tmp_path / "c", degree=3, rows="all")
        assert torch.equal(all_terms(found.bases), all_terms(whole))

    def test_the_sentence(self, tmp_path):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        said = str(extend(known, after, out=tmp_path / "b"))
        assert said.startswith("bases: extended. 10 of 402 nodes are new or have other edges or features, 0 are gone; ")
        assert said.endswith("% of the work), the others as stored")

    @pytest.mark.parametrize(
        ("made", "asked", "reason"),
        [
            ({"degree": 3}, {"degree": 4}, "the stored ones have another degree"),
            ({"degree": 3, "operator": "P"}, {"degree": 3}, "the stored ones have another operator"),
            ({"degree": 3, "dtype": "float16"}, {"degree": 3}, "the stored ones have another dtype"),
            ({"degree": 3, "dtype": "float16"}, {"degree": 3, "dtype": "float16"}, "the stored ones are rounded to float16"),
            (
                {"degree": 3, "basis": "orthonormal"},
                {"degree": 3, "basis": "orthonormal"},
                "basis has no fixed recurrence of three terms",
            ),
            (
                {"degree": 3, "basis": "bernstein"},
                {"degree": 3, "basis": "bernstein"},
                "basis has no fixed recurrence of three terms",
            ),
        ],
    )
    def test_bases_of_another_kind(self, tmp_path, made, asked, reason):
        before, after = changed_ring(60)
        known = precompute(before, out=tmp_path / "a", rows="all", **made)
        found = extend(known, after, out=tmp_path / "b", spec=BasesSpec(**asked))
        assert reason in found.anew
        whole = precompute(after, out=tmp_path / "c", rows="all", **asked)
        assert torch.equal(all_terms(found.bases), all_terms(whole))

    def test_other_columns(self, tmp_path):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        after.x = after.x[:, :4].contiguous()
        assert extend(known, after, out=tmp_path / "b").anew == "the stored ones have other columns"

    def test_columns_that_change_places(self, tmp_path):
        before, _ = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        before.x = before.x.flip(1)
        assert extend(known, before, out=tmp_path / "b").changed == 400

    @pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:200])])
    def test_folders_without_marks(self, tmp_path, damage):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        damage(tmp_path / "a" / "marks.npy")
        assert "do not say which nodes they are of" in extend(known, after, out=tmp_path / "b").anew
        assert len(Bases.open(tmp_path / "a")) == 400, "training needs no marks"

    def test_little_memory(self, tmp_path, monkeypatch):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        monkeypatch.setattr(extending, "_COMPARING", 2**40)
        assert extend(known, after, out=tmp_path / "b", memory="64GiB").anew == "the memory does not suffice for a comparison"

    def test_ids_that_occur_twice(self, tmp_path):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        after.node_ids[3] = 4
        assert extend(known, after, out=tmp_path / "b").anew == "two nodes cannot be told from each other"

    def test_wrong_calls(self, tmp_path):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=2, rows="all")
        with pytest.raises(InputError, match="out must be another folder than that of the known bases"):
            extend(known, after, out=tmp_path / "a")
        after.node_ids = after.node_ids[:5]
        with pytest.raises(InputError, match="node_ids must be one for each of 402 nodes, got 5"):
            extend(known, after, out=tmp_path / "b")


class TestMarks:
    def test_they_differ_where_rows_differ(self):
        before, after = changed_ring()
        old, new = (marks_of(large_operator(g.edge_index, g.num_nodes), g.x, g.node_ids) for g in (before, after))
        same = old[:, 1] == new[:400, 1]
        assert np.flatnonzero(~same).tolist() == [49, 50, 51, 52, 99, 100, 101]
        assert np.flatnonzero(old[:, 2] != new[:400, 2]).tolist() == [200]
        assert len(np.unique(old)) == old.size

    def test_values_in_other_places_of_a_row(self):
        """Sums of hashes do not confuse who has which value, nor signs."""
        matrix = operator_of(torch.tensor([[0, 1], [1, 0]]), None, torch.empty(2, 0), kind="P", owner="test")
        rows = [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], [[2.0, 2.0], [0.0, 4.0]]]
        for x in rows:
            marks = marks_of(matrix, torch.tensor(x), None)
            assert marks[0, 2] != marks[1, 2]
        zeros = marks_of(matrix, torch.tensor([[0.0, 1.0], [-0.0, 1.0]]), None)
        assert zeros[0, 2] == zeros[1, 2]

    def test_sparse_and_dense(self):
        dense = scipy.sparse.random(500, 300, density=0.02, random_state=0, dtype=np.float32).toarray()
        matrix = large_operator(torch.tensor([[0, 1], [1, 0]]), 500)
        x = torch.from_numpy(dense)
        np.testing.assert_array_equal(marks_of(matrix, x, None), marks_of(matrix, SparseOperator.from_dense(x), None))


class TestInterrupted:
    def test_it_goes_on_where_it_was(self, tmp_path):
        before, after = changed_ring()
        known = precompute(before, out=tmp_path / "a", degree=3, rows="all")
        blocks = []

        def stop(progress: PrecomputeProgress) -> None:
            blocks.append(progress.block)
            if progress.block == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            extend(known, after, out=tmp_path / "b", block=2, progress=stop)
        assert not (tmp_path / "b" / "manifest.json").exists()
        later = []
        found = extend(known, after, out=tmp_path / "b", block=2, progress=lambda step: later.append(step.block))
        assert set(later) == {2}
        whole = precompute(after, out=tmp_path / "c", degree=3, rows="all", block=2)
        assert torch.equal(all_terms(found.bases), all_terms(whole))
        again = []
        assert str(extend(known, after, out=tmp_path / "b", progress=again.append)) == str(found)
        assert again == []
