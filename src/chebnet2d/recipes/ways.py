"""Two ways to train on a graph: all of it at once, or mini batches of rows of its bases on disk. What each takes.

The choice depends on sizes and on the memory that there is, never on a clock: the same command gives the same model again.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from chebnet2d._sizes import show_bytes
from chebnet2d.graph import SparseOperator
from chebnet2d.models import Decoupled, NodeClassifier

LONG = 0.5
"""Estimated seconds of an epoch from which mini batches pay: hundreds of epochs follow."""
SLOWER = 10
"""An epoch on the bases may take so many times as long: a small part of the epochs does."""
ROWS = 10_000
"""Of a batch of bases."""
STEPS, FEWEST_EPOCHS, LEAST_PATIENCE = 2000, 20, 5
# Seconds on one core, about: of a multiplication of dense matrices, of a number of a hidden layer, and of a row that a sparse
# product reads, in the cache and beyond. benchmarks/large/ways.py measures these, _LIBRARIES and _ENTRY.
_MULTIPLY, _HIDDEN, _NEAR, _FAR = 1.25e-10, 2e-8, 1e-9, 1e-8
_CACHE, _LINE = 2**20, 16  # bytes of it, and numbers of a line
_LIBRARIES = 150 * 2**20  # what training loads
_ENTRY = 48  # bytes at the peak of an entry of the operator, while it is built


@dataclass(frozen=True)
class Cost:
    """Of training on the whole graph: bytes beyond those that the process holds, and seconds of an epoch, roughly."""

    bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"about {show_bytes(self.bytes)} of memory and {self.seconds:.2g} s an epoch"


def whole_graph_cost(model: NodeClassifier, data: Any) -> Cost:
    """From sizes: the weights times rows, the hidden layers, and the products with the operator, each three times an epoch."""
    nodes, entries, channels = int(data.num_nodes), 2 * _edges(data), int(model.config.get("out_channels", 1))
    shapes = {name: p.shape for name, p in model.named_parameters() if p.dim() == 2 and not name.startswith("conv.")}
    of_rows = sum(math.prod(shapes.pop(name)) for name in model.per_node if name in shapes)  # A's rows are sparse
    matrices = list(shapes.values())
    first = max((shape for shape in matrices if data.num_features in shape), key=math.prod, default=None)
    dense = nodes * sum(math.prod(shape) for shape in matrices if shape is not first)
    if first is not None:
        dense += stored_numbers(data.x) * (math.prod(first) // data.num_features)
    dense += entries * (of_rows // nodes)
    widths = of_rows // nodes + sum(min(shape) if data.num_features in shape else max(shape) for shape in matrices)
    conv = getattr(model, "conv", None) if isinstance(model, Decoupled) else None
    rows, width = (entries * conv.degree, channels) if conv is not None else (entries, widths)
    fetch = (_NEAR if 4 * nodes * width <= _CACHE else _FAR) * max(1.0, width / _LINE)
    numbers = nodes * (4 * widths + 8 * channels) + 4 * of_rows + stored_numbers(data.x)
    seconds = 4 * _MULTIPLY * dense + _HIDDEN * nodes * widths + 3 * fetch * rows
    return Cost(_LIBRARIES + 4 * numbers + _ENTRY * entries, seconds)


def bases_seconds(model: Decoupled, data: Any, degree: int) -> float:
    """Of an epoch over rows of bases, roughly: all terms through the filter, then an MLP of the size of the model's."""
    features, hidden = data.num_features, int(model.config.get("hidden_channels", 64))
    maps = min(features, hidden) if model.maps_channels else 1
    work = (degree + 1) * features * maps + hidden * (features + model.config["out_channels"])
    return float(4 * _MULTIPLY * data.num_nodes * work)


def stored_numbers(x: Any) -> int:
    """Entries of the features that are not 0."""
    if isinstance(x, SparseOperator):
        return x.nnz
    assert isinstance(x, Tensor)
    return int(torch.count_nonzero(x)) if x.layout == torch.strided else int(x.values().numel())


def steps_in_place_of_epochs(settings: dict[str, Any], rows: int, batch: int) -> dict[str, Any]:
    """Epochs and patience of mini batches, where none are asked for: about as many steps as by default on the whole graph."""
    steps = -(-rows // batch)
    usual = {"epochs": max(FEWEST_EPOCHS, -(-STEPS // steps)), "patience": max(LEAST_PATIENCE, -(-STEPS // 10 // steps))}
    return {**usual, **settings}


def _edges(data: Any) -> int:
    graph = data.edge_index
    return graph.nnz // 2 if isinstance(graph, SparseOperator) else int(graph.shape[1])
