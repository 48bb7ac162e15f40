"""The training loop, and what it asks of both sides.

    task      knows the data: the batches of an epoch, and the validation and test nodes in batches
    learner   holds the parameters: a step on a batch, numbers on validation nodes, states

There is one loop for a full graph, for mini batches of nodes and for bases on disk, in one process and in many.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from torch import Tensor

from chebnet2d.training.batches import Batch
from chebnet2d.training.early_stopping import EarlyStopping
from chebnet2d.training.pruning import Standing
from chebnet2d.training.run import EpochProgress, Result, Run


class Task(Protocol):
    """The data of one stack of runs."""

    owner: str
    runs: Sequence[Run]
    metric: str
    evaluate_every: int
    train_rows: int
    """Over which the loss of an epoch is the mean."""

    def training_batches(self, epoch: int) -> Iterator[tuple[int, list[Batch]]]:
        """(rows of the batch that count, the shards of it that this process works on) in the order of the epoch."""
        ...

    def validation_batches(self, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        """Batches that together count each validation node of a run once; of several processes, those of one."""
        ...

    def test_batches(self, run: Run, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        """The same for the test nodes of one run, without weights; nothing where it has none."""
        ...

    def keep(self, positions: Sequence[int]) -> None:
        """Only these runs of the stack go on."""
        ...


class Learner(Protocol):
    """The parameters of one stack of runs. Numbers are those of all processes."""

    def step(self, task: Task, rows: int, shards: Sequence[Batch]) -> list[float]:
        """One step; the mean loss over the batch per run."""
        ...

    def step_on_validation(self, task: Task) -> None:
        """One step of the parameters that are fitted on validation nodes, where the model has such."""
        ...

    def evaluate(self, task: Task) -> tuple[list[float], list[float]]:
        """Mean loss and metric on the validation nodes, per run that is still in training."""
        ...

    def snapshot(self, position: int) -> dict[str, Tensor]:
        """A copy of the state of one run."""
        ...

    def keep(self, positions: Sequence[int]) -> None: ...

    def finish(self, task: Task, run: Run, state: dict[str, Tensor], test: bool) -> dict[str, float]:
        """Put the best state into the model; all metrics on the test nodes, if they are asked for."""
        ...


class Training:
    """A stack in training: it can stop after any epoch and go on."""

    def __init__(self, task: Task, learner: Learner) -> None:
        self.task, self.learner, self.runs = task, learner, task.runs
        self.stoppers = [EarlyStopping(run) for run in self.runs]
        self.active = list(range(len(self.runs)))
        self.longest = max(run.settings.epochs for run in self.runs)
        self.epoch = self.resumed = 0
        self.after_epoch: Callable[[Training], None] | None = None
        """Called after every epoch but the last, with all that the next one needs in place."""

    def advance(
        self, until: float, limit: float, progress: Callable[[EpochProgress], None] | None, stop: threading.Event
    ) -> None:
        """Epochs up to ``until``, or until every run is done, or the clock shows ``limit``: all that are not done leave then."""
        while self.active and self.epoch < until and not stop.is_set():
            start, side_by_side = time.perf_counter(), self.active
            self._one_epoch()
            share = (time.perf_counter() - start) / len(side_by_side)
            for r in side_by_side:  # an epoch belongs to the runs that were in it
                self.stoppers[r].seconds += share
            if time.perf_counter() >= limit:
                self.drop(self.active)
            if self.after_epoch is not None and self.active:
                self.after_epoch(self)
            if progress is not None:
                best = max(stopper.best_metric for stopper in self.stoppers)
                progress(EpochProgress(self.epoch, self.longest, len(self.active), len(self.runs), best, self.resumed))

    def _one_epoch(self) -> None:
        self.epoch += 1
        sums = [0.0] * len(self.active)
        for rows, shards in self.task.training_batches(self.epoch):
            for position, loss in enumerate(self.learner.step(self.task, rows, shards)):
                sums[position] += loss * rows
        train_losses = [total / self.task.train_rows for total in sums]
        self.learner.step_on_validation(self.task)
        if self.epoch % self.task.evaluate_every and not any(self.epoch >= self.runs[r].settings.epochs for r in self.active):
            for position, r in enumerate(self.active):
                self.stoppers[r].history.train_loss.append(train_losses[position])
            return
        losses, scores = self.learner.evaluate(self.task)
        stays = []
        for position, r in enumerate(self.active):
            stopper = self.stoppers[r]
            snapshot = partial(self.learner.snapshot, position)
            stopper.update(self.epoch, train_losses[position], losses[position], scores[position], snapshot)
            if not stopper.done(self.epoch):
                stays.append(position)
        self._keep(stays)

    def _keep(self, positions: list[int]) -> None:
        if len(positions) < len(self.active):
            self.active = [self.active[position] for position in positions]
            if positions:
                self.task.keep(positions)
                self.learner.keep(positions)

    def drop(self, runs: Sequence[int]) -> None:
        """These runs leave before they are done; runs that are done already are left alone."""
        leaving = set(runs) & set(self.active)
        for r in leaving:
            self.stoppers[r].pruned = True
        self._keep([position for position, r in enumerate(self.active) if r not in leaving])

    def standings(self) -> list[Standing]:
        return [Standing(one.best_metric, one.best_loss, r in self.active) for r, one in enumerate(self.stoppers)]

    def results(self, test: bool) -> list[Result]:
        """What every run reached; its model gets its best state."""
        return [
            one.result(self.task.metric, self.learner.finish(self.task, one.run, one.best_state, test)) for one in self.stoppers
        ]
