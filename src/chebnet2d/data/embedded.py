"""Data that needs no file: scikit-learn's digits as a graph, and graphs drawn from a model with known parameters."""

from typing import Any

import numpy as np
from torch_geometric.data import Data

from chebnet2d._checks import InputError, integer, real
from chebnet2d.data.dataset import make_data, sorted_unique


def digits(neighbours: int = 10) -> Data:
    """1797 images of handwritten digits, 8 x 8 pixels in [0, 1]; an edge where one is among the nearest of the other.

    >>> data = digits()
    >>> data.num_nodes, data.num_features, data.num_classes
    (1797, 64, 10)
    """
    integer("digits", "neighbours", neighbours, 1, 1796)
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    bunch = load_digits()
    pixels = (bunch.data / 16.0).astype(np.float32)
    nearest = kneighbors_graph(pixels, neighbours, mode="connectivity", include_self=False).tocoo()
    edges = np.stack([nearest.row, nearest.col])
    return make_data("digits", pixels, edges, bunch.target, class_names=[str(digit) for digit in range(10)])


def csbm(
    nodes: int = 1000,
    classes: int = 3,
    features: int = 32,
    homophily: float = 0.8,
    degree: float = 10.0,
    signal: float = 1.0,
    seed: int = 0,
) -> Data:
    """A contextual stochastic block model: labels, a graph that follows them to a known degree, noisy features.

    The classes are of equal size (up to one node). The graph is uniform among those with exactly ``round(nodes * degree / 2)``
    undirected edges of which the part ``homophily`` (rounded) joins nodes of one class: its edge homophily is the given one
    exactly, not only on average. Features are ``signal`` times a random unit vector of the class, plus standard normal noise.

    Args:
        degree: Average degree.
        signal: Distance of the class means from the origin, in standard deviations of the noise. 0: features say nothing.

    >>> csbm(nodes=100, degree=4, seed=1).num_edges
    400
    """
    owner = "csbm"
    nodes = integer(owner, "nodes", nodes, 1)
    classes = integer(owner, "classes", classes, 1, nodes)
    features = integer(owner, "features", features, 1)
    homophily = real(owner, "homophily", homophily, 0.0, 1.0)
    degree = real(owner, "degree", degree, 0.0)
    signal = real(owner, "signal", signal, 0.0)
    seed = integer(owner, "seed", seed, 0)
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(nodes) % classes)
    edges = round(nodes * degree / 2)
    within = round(homophily * edges)
    pairs = np.concatenate([_pairs(rng, y, classes, within, True), _pairs(rng, y, classes, edges - within, False)])
    means = rng.standard_normal((classes, features))
    means *= signal / np.linalg.norm(means, axis=1, keepdims=True)
    x = rng.standard_normal((nodes, features), dtype=np.float32)
    x += means.astype(np.float32)[y]
    return make_data("csbm", x, np.stack([pairs // nodes, pairs % nodes]), y, num_classes=classes)


def _pairs(rng: np.random.Generator, y: Any, classes: int, count: int, same: bool) -> Any:
    """``count`` different pairs u < v, as u * N + v, uniform among those with equal (or with different) labels."""
    nodes = y.size
    sizes = np.bincount(y, minlength=classes)
    inside = int((sizes * (sizes - 1) // 2).sum())
    available = inside if same else nodes * (nodes - 1) // 2 - inside
    if count > available:
        kind = "within classes" if same else "between classes"
        hint = "Lower the degree."
        rule = f"at most {available} edges {kind}"
        raise InputError("csbm", "degree and homophily", rule, got=str(count), hint=hint, verb="leave")
    if count == 0:
        return np.empty(0, dtype=np.int64)
    if count > available // 4:  # rejection would draw the same pairs again and again; the list is at most 8 C count long
        low, high = np.triu_indices(nodes, 1)
        kept = (y[low] == y[high]) == same
        return rng.choice((low * nodes + high)[kept], count, replace=False)
    order = np.argsort(y, kind="stable")
    start = np.concatenate([[0], np.cumsum(sizes)])
    keys = np.empty(0, dtype=np.int64)
    while keys.size < count:
        draws = int(1.1 * (count - keys.size)) * (1 if same else 2) + 16
        u = rng.integers(0, nodes, draws)
        if same:
            # A place in the largest class: what falls outside u's own class is dropped, so that all pairs stay equally likely.
            place = rng.integers(0, int(sizes.max()), draws)
            kept = place < sizes[y[u]]
            u, place = u[kept], place[kept]
            v = order[start[y[u]] + place]
            kept = u != v
        else:
            v = rng.integers(0, nodes, draws)
            kept = y[u] != y[v]
        u, v = u[kept], v[kept]
        keys = sorted_unique(np.concatenate([keys, np.minimum(u, v) * nodes + np.maximum(u, v)]))
    # Dropping the surplus at random keeps the set uniform; the first ``count`` of a sorted array would not.
    return rng.choice(keys, count, replace=False) if keys.size > count else keys
