"""Labels and edges of a random graph with exact counts, drawn by numpy in chunks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.data.dataset import sorted_unique
from chebnet2d.data.generated.shapes import GraphShape

CHUNK = 1 << 22  # edges drawn, or numbers written, together
EXPONENTS = {"power-law": 0.7, "csbm": 0.0}
"""Model -> exponent e: the node at rank r of its class has the weight (r + shift)^-e. Degrees have a tail of exponent 1 + 1/e."""
_SHIFT = 2e-4  # of the class: bounds the largest degree, at about a hundred times the average


def draw_labels(rng: np.random.Generator, shape: GraphShape) -> Any:
    """Exact shares of the classes, in random order. Every node has a class, known or not."""
    borders = np.round(np.cumsum(shape.balance) * shape.nodes).astype(np.int64)
    y = np.searchsorted(borders, np.arange(shape.nodes), side="right")
    return rng.permutation(np.minimum(y, shape.classes - 1))


def draw_edges(rng: np.random.Generator, shape: GraphShape, y: Any, exponent: float) -> Any:
    """Sorted keys u N + v, u < v, of exactly the wanted number of different edges, within classes and between them."""
    within = round(shape.homophily * shape.edges)
    order = np.argsort(y, kind="stable")  # random inside a class, since y was permuted
    sizes = np.bincount(y, minlength=shape.classes)
    parts = [
        _different(rng, shape, within, lambda count: _pairs(rng, order, sizes, count, exponent, same=True)),
        _different(rng, shape, shape.edges - within, lambda count: _pairs(rng, order, sizes, count, exponent, same=False)),
    ]
    keys = np.concatenate(parts)
    keys.sort()
    return keys


def _different(rng: np.random.Generator, shape: GraphShape, wanted: int, draw: Callable[[int], tuple[Any, Any]]) -> Any:
    keys = np.empty(0, dtype=np.int64)
    for _ in range(200):
        missing = wanted - keys.size
        if missing <= 0:
            break
        fresh = []
        target = int(1.15 * missing) + 64
        while target > 0:
            u, v = draw(min(target, CHUNK))
            fresh.append(np.minimum(u, v) * shape.nodes + np.maximum(u, v))
            target -= min(target, CHUNK)
        keys = sorted_unique(np.concatenate([keys, *fresh]))
    if keys.size < wanted:
        raise InputError("generate", "the graph", f"room for {wanted} different edges of a kind", got=str(keys.size), verb="have")
    if keys.size > wanted:  # the surplus goes at random
        drop = rng.choice(keys.size, keys.size - wanted, replace=False)
        keys = np.delete(keys, drop)
    return keys


def _pairs(rng: np.random.Generator, order: Any, sizes: Any, count: int, exponent: float, *, same: bool) -> tuple[Any, Any]:
    """About ``count`` pairs of different nodes of one class, or of two."""
    total = np.cumsum(sizes)
    first = np.searchsorted(total, rng.integers(0, total[-1], count), side="right")
    second = first if same else np.searchsorted(total, rng.integers(0, total[-1], count), side="right")
    if not same:
        kept = first != second
        first, second = first[kept], second[kept]
    start = total - sizes
    u = order[start[first] + _ranks(rng, sizes[first], exponent)]
    v = order[start[second] + _ranks(rng, sizes[second], exponent)]
    kept = u != v
    return u[kept], v[kept]


def _ranks(rng: np.random.Generator, sizes: Any, exponent: float) -> Any:
    """A rank below each size, with density ~ (rank + shift)^-exponent: the distribution function is inverted in closed form."""
    uniform = rng.random(sizes.size)
    if exponent == 0:
        drawn = uniform * sizes
    else:
        shift = _SHIFT * sizes + 1
        power = 1 - exponent
        low, high = shift**power, (sizes + shift) ** power
        drawn = (low + uniform * (high - low)) ** (1 / power) - shift
    return np.minimum(drawn.astype(np.int64), sizes - 1)
