"""What an estimator sees of a node, against loops over edges, and that it never sees the node's own label."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD

from chebnet2d import InputError
from chebnet2d.graph import SparseOperator
from chebnet2d.models.estimators.inputs import Inputs
from example_graphs import graph

CLASSES = 3


def known_labels(nodes, seed=0):
    labels = torch.randint(0, CLASSES, (nodes,), generator=torch.Generator().manual_seed(seed))
    labels[::3] = -1
    return labels


def rows_of(kind, labels, seed=0, weight=True, columns=100):
    edge_index, edge_weight, _, x = graph(seed)
    inputs = Inputs("Test", 6, CLASSES, kind, columns)
    inputs.prepare(x, labels, 0)
    return inputs(x, edge_index, edge_weight if weight else None)


def expected_rows(labels, seed=0):
    """By loops over edges: neighbours, and pairs of edges i - j - k with k != i."""
    edge_index, weight, nodes, x = graph(seed)
    x, y = x.numpy(), labels.numpy()
    near = [[] for _ in range(nodes)]
    for (i, j), w in zip(edge_index.T.tolist(), weight.tolist(), strict=True):
        near[i].append((j, w))

    def mean(values, i):
        total = sum(w for _, w in near[i])
        return sum(w * values[j] for j, w in near[i]) / total if total else np.zeros(values.shape[1])

    def shares(pairs):
        counts = np.zeros(CLASSES)
        for k, w in pairs:
            if y[k] >= 0:
                counts[y[k]] += w
        total = counts.sum()
        return [*(counts / total if total else counts), np.log1p(total)]

    first = np.stack([mean(x, i) for i in range(nodes)])
    rows = []
    for i in range(nodes):
        degree = np.log1p(sum(w for _, w in near[i]))
        two_steps = [(k, 1.0) for j, _ in near[i] for k, _ in near[j] if k != i]
        rows.append([*x[i], *first[i], *mean(first, i), degree, *shares(near[i]), *shares(two_steps)])
    return np.array(rows)


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_what_loops_over_edges_count(seed):
    labels = known_labels(17, seed)
    rows, expected = rows_of("labels", labels, seed), expected_rows(labels, seed)
    np.testing.assert_allclose(rows, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(rows_of("neighbours", labels, seed), rows[:, : 3 * 6 + 1])
    np.testing.assert_array_equal(rows_of("features", labels, seed), rows[:, :6])


@given(st.integers(0, 10**6), st.integers(0, 16), st.integers(-1, CLASSES - 1), st.booleans())
def test_no_row_depends_on_the_label_of_its_node(seed, node, label, weight):
    """To the last bit: a tree may split on any difference. The other rows that see the node do change."""
    before = known_labels(17, seed)
    after = before.clone()
    after[node] = label
    one, other = (rows_of("labels", labels, seed % 5, weight) for labels in (before, after))
    np.testing.assert_array_equal(one[node], other[node])
    edge_index = graph(seed % 5)[0]
    if before[node] != label and (edge_index[0] == node).any():
        neighbour = int(edge_index[1][edge_index[0] == node][0])
        assert (one[neighbour] != other[neighbour]).any()


def test_wide_features_are_projected_as_scikit_learn_does():
    draws = torch.Generator().manual_seed(0)
    x = (torch.rand(60, 7, generator=draws) < 0.3).float() @ (torch.rand(7, 40, generator=draws) < 0.2).float()
    inputs = Inputs("Test", 40, CLASSES, "features", 7)
    inputs.prepare(SparseOperator.from_dense(x), torch.full((60,), -1), 0)
    rows = inputs(x, torch.empty(2, 0, dtype=torch.long))
    reference = TruncatedSVD(7, algorithm="arpack", random_state=0).fit(x.numpy()).transform(x.numpy())
    np.testing.assert_allclose(
        rows @ rows.T, reference @ reference.T, rtol=1e-4, atol=1e-4
    )  # whatever the signs of the directions


def test_labels_of_another_graph_are_refused():
    _, _, nodes, x = graph()
    inputs = Inputs("Boosting", 6, CLASSES, "labels", 100)
    inputs.prepare(x, known_labels(nodes), 0)
    with pytest.raises(InputError, match=r"Boosting: the graph must be the one of 17 nodes it was trained on, got one of 5\."):
        inputs(x[:5], torch.empty(2, 0, dtype=torch.long))
