"""The loop over mini batches that training on bases and training on nodes of a graph share, and what it asks of both sides.

    task      knows the data: the batches of an epoch, and the validation and test nodes in batches
    learner   holds the parameters: a step on a batch, numbers on validation nodes, states

A batch is what the model is called with, and a label for each row of its answer: -1 where the row is context that does not count.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from chebnet2d.kernels.random_streams import Stream
from chebnet2d.training.fit import Progress, Report, Result, Run, _Tracker, check_logits
from chebnet2d.training.metrics import negative_log_likelihood, roc_auc
from chebnet2d.training.stack import Stack

BATCH = 10_000
"""Rows of a batch, where nothing else is said."""

Batch = tuple[Any, Tensor]
"""(inputs, labels): inputs are one tensor or a tuple of arguments."""


class BatchTask(Protocol):
    """Positions are the task's own numbers of nodes."""

    owner: str
    runs: list[Run]
    metric: str
    train: Tensor
    val: Tensor
    test: Tensor

    def training_batches(self, epoch: int, shards: int, mine: Sequence[int]) -> Iterator[tuple[int, list[Batch]]]:
        """(rows of the batch that count, [the shards of it that are ours]) in the order of the epoch."""
        ...

    def streamed(self, positions: Tensor) -> Iterator[Batch]:
        """Batches that together count each of the positions once."""
        ...


class Learner(Protocol):
    """What the loop asks of the side that holds the parameters. Numbers are those of all processes."""

    def train_batch(self, rows: int, shards: list[Batch]) -> list[float]:
        """One step; the mean loss over the batch for each run."""
        ...

    def evaluate(self, task: BatchTask, positions: Tensor, metric: str) -> tuple[list[float], list[float]]:
        """Mean loss and metric of each run that is still at work."""
        ...

    def snapshot(self, position: int) -> dict[str, Tensor]: ...

    def keep(self, positions: Sequence[int]) -> None: ...

    def finish(self, task: BatchTask, run: Run, state: dict[str, Tensor], test: bool) -> tuple[float | None, float | None]:
        """Put the best state into the model; accuracy and ROC-AUC on the test nodes."""
        ...


def train(
    task: BatchTask,
    learner: Learner,
    *,
    shards: int,
    mine: Sequence[int],
    test: bool = True,
    evaluate_every: int = 1,
    progress: Report | None = None,
) -> list[Result]:
    """The loop. It is the same in one process and in many.

    ``evaluate_every``: epochs between two looks at the validation nodes; the last epoch of a run is always looked at.
    """
    start = time.perf_counter()
    runs, metric = task.runs, task.metric
    trackers = [_Tracker(run) for run in runs]
    active = list(range(len(runs)))
    longest = max(run.settings.epochs for run in runs)
    epoch = 0
    while active:
        epoch += 1
        sums = [0.0] * len(active)
        for rows, parts in task.training_batches(epoch, shards, mine):
            for position, loss in enumerate(learner.train_batch(rows, parts)):
                sums[position] += loss * rows
        train_losses = [total / task.train.numel() for total in sums]
        if epoch % evaluate_every and not any(epoch >= runs[r].settings.epochs for r in active):
            for position, r in enumerate(active):
                trackers[r].history.train_loss.append(train_losses[position])
            stays = list(range(len(active)))
        else:
            losses, scores = learner.evaluate(task, task.val, metric)
            stays = []
            for position, r in enumerate(active):
                if trackers[r].update(epoch, train_losses[position], losses[position], scores[position]):
                    trackers[r].best_state = learner.snapshot(position)
                if not trackers[r].done(epoch):
                    stays.append(position)
        if len(stays) < len(active):
            active = [active[position] for position in stays]
            if stays:
                learner.keep(stays)
        if progress is not None:
            best = max(tracker.best_metric for tracker in trackers)
            progress(Progress(epoch, longest, len(active), len(runs), best))
    seconds = (time.perf_counter() - start) / len(runs)
    results = []
    for run, tracker in zip(runs, trackers, strict=True):
        accuracy, auc = learner.finish(task, run, tracker.best_state, test)
        results.append(tracker.record(metric, accuracy, auc, seconds))
    return results


def shard_streams(seed: int, shards: int) -> list[Stream]:
    """A random stream for each shard; that of the first is the stream of the run."""
    return [Stream(np.random.SeedSequence(seed, spawn_key=(1,) if s == 0 else (1, s))) for s in range(shards)]


class StackLearner:
    """All runs side by side in this process."""

    def __init__(self, runs: Sequence[Run], shards: int, owner: str = "fit_on_bases") -> None:
        self.owner = owner
        streams = [shard_streams(run.seed, shards) for run in runs]
        self.streams = [[streams[r][s] for r in range(len(runs))] for s in range(shards)]
        self.stack = Stack([run.model for run in runs], [run.settings for run in runs], self.streams[0])

    def train_batch(self, rows: int, shards: list[Batch]) -> list[float]:
        total: Tensor | None = None
        penalties: list[Tensor] = []
        for streams, (inputs, y) in zip(self.streams, shards, strict=True):
            self.stack.streams = streams
            logits, penalty = self.stack.forward(arguments(inputs), training=True)
            check_logits(self.owner, logits, y)
            losses = counted_losses(logits, y).sum(dim=1) / rows
            total = losses if total is None else total + losses
            if penalty is not None:
                penalties.append(penalty / len(shards))
        assert total is not None
        self.stack.step(sum(penalties, total.sum()))
        values: list[float] = total.detach().tolist()
        return values

    def evaluate(self, task: BatchTask, positions: Tensor, metric: str) -> tuple[list[float], list[float]]:
        self.stack.streams = self.streams[0]
        meter = Meter(metric)
        with torch.no_grad():
            for inputs, y in task.streamed(positions):
                meter.add(self.stack.forward(arguments(inputs), training=False)[0], y)
        return meter.losses(), meter.scores()

    def snapshot(self, position: int) -> dict[str, Tensor]:
        return self.stack.snapshot(position)

    def keep(self, positions: Sequence[int]) -> None:
        self.stack.streams = self.streams[0]
        self.stack.keep(positions)
        self.streams = [[streams[r] for r in positions] for streams in self.streams]

    def finish(self, task: BatchTask, run: Run, state: dict[str, Tensor], test: bool) -> tuple[float | None, float | None]:
        run.model.load_state_dict(state, strict=False)
        run.model.eval()
        if not test or task.test.numel() == 0:
            return None, None
        meter = Meter("accuracy", ranks=True)
        with torch.no_grad():
            for inputs, y in task.streamed(task.test):
                meter.add(run.model(*arguments(inputs)).unsqueeze(0), y)
        return meter.scores()[0], meter.roc_auc(0)


class Meter:
    """Sums over streamed batches of R x B x C logits."""

    def __init__(self, metric: str, *, ranks: bool = False) -> None:
        self.metric = metric
        self.ranks = ranks or metric == "roc_auc"
        self.rows = 0
        self.loss: Tensor | None = None
        self.right: Tensor | None = None
        self.margins: list[Tensor] = []
        self.labels: list[Tensor] = []

    def add(self, logits: Tensor, y: Tensor) -> None:
        if bool((y < 0).any()):  # rows that do not count leave before the softmax: most of a graph is not validated
            counts = (y >= 0).nonzero().squeeze(1)
            logits, y = logits.index_select(1, counts), y[counts]
        self.rows += y.numel()
        loss = negative_log_likelihood(logits, y).double().sum(dim=1).cpu()
        right = (logits.argmax(dim=-1) == y).sum(dim=1).double().cpu()
        self.loss = loss if self.loss is None else self.loss + loss
        self.right = right if self.right is None else self.right + right
        if self.ranks and logits.shape[-1] == 2:
            self.margins.append((logits[..., 1] - logits[..., 0]).cpu())
            self.labels.append(y.cpu())

    def losses(self) -> list[float]:
        assert self.loss is not None
        values: list[float] = (self.loss / self.rows).tolist()
        return values

    def scores(self) -> list[float]:
        assert self.right is not None
        if self.metric == "roc_auc":
            return [self.roc_auc(r) or 0.0 for r in range(self.right.numel())]
        values: list[float] = (self.right / self.rows).tolist()
        return values

    def roc_auc(self, run: int) -> float | None:
        if not self.margins:
            return None
        margins, y = torch.cat(self.margins, dim=1)[run], torch.cat(self.labels)
        return roc_auc(torch.stack([torch.zeros_like(margins), margins], dim=1), y, torch.arange(y.numel()))


def arguments(inputs: Any) -> tuple[Any, ...]:
    return inputs if isinstance(inputs, tuple) else (inputs,)


def counted_losses(logits: Tensor, y: Tensor) -> Tensor:
    """R x B: -log p(y) where there is a label, 0 elsewhere."""
    return negative_log_likelihood(logits, y) * (y >= 0)
