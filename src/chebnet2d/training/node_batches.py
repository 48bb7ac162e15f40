"""Training on mini batches of nodes of a graph, for methods that need the graph: settings and early stopping as in ``fit``.

    rows            training nodes with their own rows of X and A: exact where a node's answer needs no other node's (LINKX)
    induced         all nodes, shuffled and cut: each batch sees the edges inside it alone, and learns from its training nodes
    induced-train   the same of the training nodes alone

An induced batch of B nodes holds about the part B / N of the edges of each of its nodes: it trains another model than a full
batch does.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, flag, integer, one_of
from chebnet2d._device import checked_device
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.nn import Features
from chebnet2d.nn.features import pattern_of
from chebnet2d.training.batch_loop import BATCH, Batch, StackLearner, train
from chebnet2d.training.fit import Report, Result, Run, SplitLike, check_data, initialise_parameters
from chebnet2d.training.settings import Settings

SAMPLINGS = ("rows", "induced", "induced-train")
EVALUATIONS = ("whole", "parts")


def fit_on_nodes(
    model: nn.Module,
    data: Any,
    split: SplitLike,
    seed: int = 0,
    *,
    batch_size: int = BATCH,
    sampling: str | None = None,
    evaluation: str = "whole",
    evaluate_every: int = 1,
    initialise: bool = True,
    device: str | torch.device | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> Result:
    """Train one model on mini batches of nodes; the best state on the validation nodes is restored.

    One batch of all nodes is ``fit``, up to rounding.

    Args:
        model, data, split, initialise, device, settings: as for ``fit``.
        seed: of the initial parameters, of dropout and of the batches.
        batch_size: nodes of a batch at most; the batches of an epoch are of even size.
        sampling: one of ``SAMPLINGS``, see above; default: the first that the model names in ``batches``.
        evaluation: of induced batches. "whole": one pass over the whole graph, without gradients. "parts": in induced batches of
            all nodes, the same ones every time, where the whole graph is too much; the numbers are then those of a thinner graph.
            Rows are evaluated in batches, which changes nothing.
        evaluate_every: epochs between two looks at the validation nodes.
    """
    owner = "fit_on_nodes"
    run = Run(model, split, integer(owner, "seed", seed, 0), Settings.of(**settings))
    task = NodeTask(run, data, batch_size, sampling, evaluation, device)
    integer(owner, "evaluate_every", evaluate_every, 1)
    if flag(owner, "initialise", initialise):
        initialise_parameters(model, seed)
    model.to(task.y.device)
    learner = StackLearner([run], 1, owner)
    return train(task, learner, shards=1, mine=range(1), evaluate_every=evaluate_every, progress=progress)[0]


def sampling_of(model: nn.Module | type[nn.Module], sampling: str | None = None) -> str:
    """The sampling asked for, or the model's own; checked against what the model, or its class, can do."""
    owner, name = "fit_on_nodes", (model if isinstance(model, type) else type(model)).__name__
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


class NodeTask:
    """Checked: the graph, the parts of the split, and how batches are cut out of them."""

    def __init__(
        self,
        run: Run,
        data: Any,
        batch_size: int,
        sampling: str | None = None,
        evaluation: str = "whole",
        device: str | torch.device | None = None,
    ) -> None:
        self.owner = "fit_on_nodes"
        self.runs = [run]
        self.sampling = sampling_of(run.model, sampling)
        self.batch_size = integer(self.owner, "batch_size", batch_size, 2)
        self.in_parts = one_of(self.owner, "evaluation", evaluation, EVALUATIONS) == "parts"
        where = checked_device(self.owner, device, run.model)
        self.whole = check_data(data, [run], where)
        x, graph, edge_weight = self.whole
        self.y: Tensor = data.y.to(where)
        self.num_nodes = self.y.numel()
        self.metric: str = data.get("metric") or "accuracy"
        self.train, self.val, self.test = run.split.train, run.split.val, run.split.test
        self.train_y = self._labels(self.train)
        self.pool = np.arange(self.num_nodes) if self.sampling == "induced" else self.train.cpu().numpy()
        # Of an edge list, A; a ready operator is cut as it is.
        self.operator = operator_of(graph, edge_weight, pattern_of(x), kind="A", owner=self.owner)
        self.matrix = self.operator.to_scipy()
        self.sparse_x = x.to_scipy() if isinstance(x, SparseOperator) else None

    def _labels(self, nodes: Tensor) -> Tensor:
        """Labels of these nodes, -1 for all others."""
        labels = torch.full_like(self.y, -1)
        labels[nodes] = self.y[nodes]
        return labels

    def training_batches(self, epoch: int, shards: int, mine: Sequence[int]) -> Iterator[tuple[int, list[Batch]]]:
        for nodes in self.batches_of(self.pool, epoch):
            y = self.train_y[torch.from_numpy(nodes)]
            rows = int((y >= 0).sum())
            if rows:
                yield rows, [(self._inputs(nodes), y)]

    def batches_of(self, pool: Any, epoch: int) -> list[Any]:
        """Shuffled by seed and epoch, cut evenly, and in ascending order inside a batch: rows are then read in order."""
        order = np.random.default_rng([self.runs[0].seed, epoch, 0x0DE5]).permutation(pool.size)
        return [np.sort(pool[part]) for part in np.array_split(order, -(-pool.size // self.batch_size))]

    def streamed(self, positions: Tensor) -> Iterator[Batch]:
        if self.sampling == "rows":
            for part in positions.split(self.batch_size):
                yield self._inputs(part.cpu().numpy()), self.y[part]
            return
        y = self._labels(positions)
        if not self.in_parts:
            yield self.whole, y
            return
        for nodes in self.batches_of(np.arange(self.num_nodes), 0):
            labels = y[torch.from_numpy(nodes)]
            if bool((labels >= 0).any()):
                yield self._inputs(nodes), labels

    def _inputs(self, nodes: Any) -> tuple[Features, Any, Any]:
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


def induced(matrix: Any, nodes: Any) -> Any:
    """Rows and columns ``nodes`` (ascending) of a CSR matrix: what is looked at are their rows, not the whole."""
    rows = matrix[nodes]
    place = np.full(matrix.shape[1], -1, dtype=np.int32)
    place[nodes] = np.arange(nodes.size, dtype=np.int32)
    columns = place[rows.indices]
    kept = columns >= 0
    starts = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    return scipy.sparse.csr_array((rows.data[kept], columns[kept], starts.astype(np.int32)), shape=(nodes.size, nodes.size))
