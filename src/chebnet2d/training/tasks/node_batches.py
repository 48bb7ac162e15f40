"""Training on mini batches of nodes of a graph, for methods that need the graph: settings and early stopping as in ``fit``.

    rows            training nodes with their own rows of X and A: exact where a node's answer needs no other node's (LINKX)
    induced         all nodes, shuffled and cut: each batch sees the edges inside it alone, and learns from its training nodes
    induced-train   the same of the training nodes alone
    neighbours      training nodes, some of their neighbours and of theirs, hop by hop, and the edges between all of these; the
                    loss is that of the training nodes that it was drawn around

An induced batch of B nodes holds about the part B / N of the edges of each of its nodes: it trains another model than a full
batch does.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.nn import Features
from chebnet2d.nn.features import pattern_of
from chebnet2d.training.batches import SAMPLINGS, Batch, Batches
from chebnet2d.training.run import Run
from chebnet2d.training.tasks.full_graph import checked_inputs, labels_of, weights_of_classes
from chebnet2d.training.tasks.neighbours import Neighbours, hops_of
from chebnet2d.training.tasks.source import Source, register_source


def sampling_of(model: nn.Module | type[nn.Module], sampling: str | None = None) -> str:
    """The sampling asked for, or the model's own; checked against what the model, or its class, can do."""
    owner, name = "fit", (model if isinstance(model, type) else type(model)).__name__
    can: tuple[str, ...] = getattr(model, "batches", ("induced", "induced-train"))
    if not can:
        raise InputError(
            owner,
            "the model",
            "on a part of the nodes",
            got=f"{name}, where every node needs all others",
            hint="Train it with fit, on the whole graph.",
            verb="work",
        )
    on_validation: frozenset[str] = getattr(model, "on_validation", frozenset())
    if on_validation:
        raise InputError(
            owner,
            "the model",
            "fitted on training nodes alone",
            got=f"{name}, which fits {', '.join(sorted(on_validation))} on validation nodes",
            hint="Train it with fit, on the whole graph.",
        )
    chosen = can[0] if sampling is None else one_of(owner, "sampling", sampling, SAMPLINGS)
    if chosen not in can:
        raise InputError(owner, "sampling", f"{' or '.join(map(repr, can))} for {name}", chosen)
    return chosen


@register_source
class NodeSource(Source):
    """A graph of which mini batches are cut. Each run is a stack of its own: its seed shuffles the nodes."""

    def __init__(self, data: Any, batches: Batches | None, runs: Sequence[Run], device: torch.device) -> None:
        assert batches is not None
        integer("fit", "batches.size", batches.size, 2)
        self.batches = batches
        self.sampling = sampling_of(runs[0].model, batches.sampling)
        self.whole = checked_inputs(data, runs, device)
        x, graph, edge_weight = self.whole
        self.y: Tensor = data.y.to(device)
        self.num_nodes = self.y.numel()
        self.metric: str = data.get("metric") or "accuracy"
        # Of an edge list, A; a ready operator is cut as it is.
        self.operator = operator_of(graph, edge_weight, pattern_of(x), kind="A", owner="fit")
        self.matrix = self.operator.to_scipy()
        self.sparse_x = x.to_scipy() if isinstance(x, SparseOperator) else None
        self.neighbours: Neighbours | None = None
        if self.sampling == "neighbours":
            self.neighbours = Neighbours(self.matrix, batches.neighbours, hops_of(runs[0].model))

    @staticmethod
    def accepts(data: Any, batches: Batches | None) -> bool:
        return batches is not None

    def width(self, run: Run, asked: int | None) -> int:
        return 1

    def task(self, runs: Sequence[Run]) -> "NodeTask":
        return NodeTask(self, runs)

    def inputs(self, nodes: Any) -> tuple[Features, Any, Any]:
        if self.sampling == "rows":
            return self._features(nodes), self._rows_of_graph(nodes), None
        return self.whole if nodes.size == self.num_nodes else (self._features(nodes), *self._induced(nodes))

    def _features(self, nodes: Any) -> Features:
        x = self.whole[0]
        if self.sparse_x is None:
            assert isinstance(x, Tensor)
            return x[torch.from_numpy(nodes)]
        return self._placed(self.sparse_x[nodes])

    def _rows_of_graph(self, nodes: Any) -> SparseOperator:
        if nodes.size == self.num_nodes:
            return self.operator  # symmetric, so that the gradient needs no transpose
        return self._placed(self.matrix[nodes])

    def _induced(self, nodes: Any) -> tuple[Any, Tensor | None]:
        cut = induced(self.matrix, nodes)
        if isinstance(self.whole[1], SparseOperator):
            return SparseOperator.from_scipy(cut, dtype=self.operator.dtype, symmetric=self.operator.symmetric), None
        device = self.operator.device
        ends = np.stack([np.repeat(np.arange(nodes.size), np.diff(cut.indptr)), cut.indices]).astype(np.int64)
        weighted = self.whole[2] is not None or self.whole[1].layout != torch.strided
        weight = torch.from_numpy(cut.data).to(device) if weighted else None
        return torch.from_numpy(ends).to(device), weight

    def _placed(self, matrix: Any) -> SparseOperator:
        return SparseOperator.from_scipy(matrix, dtype=self.operator.dtype).to(device=self.operator.device)


class NodeTask:
    owner = "fit"

    def __init__(self, source: NodeSource, runs: Sequence[Run]) -> None:
        (self.run,) = self.runs = runs
        self.source, self.metric = source, source.metric
        self.evaluate_every = source.batches.evaluate_every
        split = self.run.split
        self.train_rows = split.train.numel()
        self.train_y = labels_of(source.y, split.train)
        self.class_weights = weights_of_classes(runs, source.y, next(self.run.model.parameters()))
        self.pool = np.arange(source.num_nodes) if source.sampling == "induced" else split.train.cpu().numpy()

    def training_batches(self, epoch: int) -> Iterator[tuple[int, list[Batch]]]:
        for number, nodes in enumerate(self._cut(self.pool, epoch)):
            nodes, y = self._with_neighbours(nodes, self.train_y, [self.run.seed, epoch, number])
            rows = int((y >= 0).sum())
            if rows:
                yield rows, [Batch(self.source.inputs(nodes), y, class_weights=self.class_weights)]

    def _with_neighbours(self, nodes: Any, labels: Tensor, key: list[int]) -> tuple[Any, Tensor]:
        """The nodes of a batch, with those that are drawn around them, and their labels: -1 for what is drawn."""
        drawn = nodes if self.source.neighbours is None else self.source.neighbours.around(nodes, key)
        y = labels.new_full((drawn.size,), -1)
        y[torch.from_numpy(np.searchsorted(drawn, nodes))] = labels[torch.from_numpy(nodes)]
        return drawn, y

    def _cut(self, pool: Any, epoch: int) -> list[Any]:
        """Shuffled by seed and epoch, cut evenly, and in ascending order inside a batch: rows are then read in order."""
        order = np.random.default_rng([self.run.seed, epoch, 0x0DE5]).permutation(pool.size)
        return [np.sort(pool[part]) for part in np.array_split(order, -(-pool.size // self.source.batches.size))]

    def validation_batches(self, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        return self._counting(self.run.split.val)

    def test_batches(self, run: Run, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        return self._counting(run.split.test) if run.split.test.numel() else iter(())

    def _counting(self, positions: Tensor) -> Iterator[Batch]:
        source = self.source
        if source.sampling == "rows":
            for rows in positions.split(source.batches.size):
                yield Batch(source.inputs(rows.cpu().numpy()), source.y[rows])
            return
        y = labels_of(source.y, positions)
        if source.batches.evaluation == "whole":
            yield Batch(source.whole, y)
            return
        pool = np.arange(source.num_nodes) if source.neighbours is None else positions.cpu().numpy()
        for number, nodes in enumerate(self._cut(pool, 0)):
            nodes, labels = self._with_neighbours(nodes, y, [self.run.seed, 0, number])
            if bool((labels >= 0).any()):
                yield Batch(source.inputs(nodes), labels)

    def keep(self, positions: Sequence[int]) -> None:
        """There is one run: it stays until the end."""


def induced(matrix: Any, nodes: Any) -> Any:
    """Rows and columns ``nodes`` (ascending) of a CSR matrix: what is looked at are their rows, not the whole."""
    rows = matrix[nodes]
    place = np.full(matrix.shape[1], -1, dtype=np.int32)
    place[nodes] = np.arange(nodes.size, dtype=np.int32)
    columns = place[rows.indices]
    kept = columns >= 0
    starts = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    return scipy.sparse.csr_array((rows.data[kept], columns[kept], starts.astype(np.int32)), shape=(nodes.size, nodes.size))
