"""Training on precomputed bases: mini batches of rows, the same settings and early stopping as ``fit``, no graph.

    batch     a part of the shuffled training rows, B x (D + 1) x F
    shard     a part of a batch with a random stream of its own: what one process works on under ``torchrun``

One process with S shards and S processes with one each do the same arithmetic.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer
from chebnet2d._sizes import free_bytes
from chebnet2d.bases import Bases, parse_bytes
from chebnet2d.bases.manifest import digest
from chebnet2d.data import Split, split
from chebnet2d.training.batches import Batch, Batches
from chebnet2d.training.learners import DistributedLearner, StackLearner
from chebnet2d.training.loop import Learner
from chebnet2d.training.processes import process_rank
from chebnet2d.training.run import Run
from chebnet2d.training.tasks.full_graph import weights_of_classes
from chebnet2d.training.tasks.source import Source, register_source


@register_source
class BasesSource(Source):
    """Bases, and where the rows of a split lie in them. The runs of a call have one split: every batch is read once for all."""

    priority = 1

    def __init__(self, bases: Bases, batches: Batches | None, runs: Sequence[Run], device: torch.device) -> None:
        self.bases, self.batches, self.device = bases, batches or Batches(), device
        batches = self.batches
        rank, world = process_rank()
        self.shards = world if batches.shards is None else integer("fit", "batches.shards", batches.shards, world)
        self.mine = range(rank, self.shards, world)
        for run in runs:
            degree = getattr(run.model, "degree", bases.degree)
            if degree != bases.degree:
                raise InputError("fit", "the model", f"of degree {bases.degree}, as the bases", got=str(degree))
        split = runs[0].split
        for part in ("train", "val", "test"):
            if any(not torch.equal(getattr(run.split, part), getattr(split, part)) for run in runs[1:]):
                hint = "Train them in separate calls."
                raise InputError("fit", "runs on bases", "one split", got="others", hint=hint, verb="have")
        self.train, self.val, self.test = (bases.positions(getattr(split, part)) for part in ("train", "val", "test"))
        if self.train.numel() == 0 or self.val.numel() == 0:
            raise InputError("fit", "split.train and split.val", "empty", got="no nodes", verb="not be")
        if bases.labels is None:
            raise InputError("fit", "the bases", "labels", got="none", hint="Give them by bases.with_labels(...).", verb="have")
        self.y: Tensor = bases.labels
        self.metric: str = bases.metric
        if bool((self.y[torch.cat([self.train, self.val, self.test])] < 0).any()):
            raise InputError("fit", "the split", "labelled nodes only", got="one with label -1", verb="hold")
        parts = [digest(part.cpu().numpy()) for part in (self.y, self.train, self.val)]
        self.identity = f"{bases.manifest.identity} {parts} {batches.size} {self.shards} {batches.evaluate_every}"
        limit = free_bytes() // 4 if batches.memory is None else parse_bytes(batches.memory, "fit")
        row = 4 * (bases.degree + 1) * bases.num_features
        # Read in stored order, once; batches are then gathered from memory. Validation rows, of every epoch too, come second.
        self.held = self._gathered(self.train) if row * self.train.numel() <= limit else None
        both = self.held is not None and row * (self.train.numel() + self.val.numel()) <= limit
        self.held_val = self._gathered(self.val) if both else None

    @staticmethod
    def accepts(data: Any, batches: Batches | None) -> bool:
        return isinstance(data, Bases)

    def width(self, run: Run, asked: int | None) -> int:
        return sys.maxsize if asked is None else asked

    def task(self, runs: Sequence[Run]) -> "BasesTask":
        return BasesTask(self, runs)

    def learner(self, runs: Sequence[Run]) -> Learner:
        if process_rank()[1] == 1:
            return StackLearner(runs, self.shards)
        if len(runs) > 1:
            rule = "one run under torchrun, whose processes share its batches"
            raise InputError("fit_many", "runs", rule, got=str(len(runs)))
        return DistributedLearner(runs[0], self.shards, self.mine)

    def _gathered(self, positions: Tensor) -> Tensor:
        """Rows from disk, by parts."""
        out: Tensor | None = None
        for start in range(0, positions.numel(), self.batches.size):
            part = self.bases.read(positions[start : start + self.batches.size])
            if out is None:
                out = part.new_empty(positions.numel(), *part.shape[1:])
            out[start : start + self.batches.size] = part
        assert out is not None
        return out

    def batches_of(self, epoch: int) -> Iterator[tuple[int, list[Batch]]]:
        """(rows of the batch, our shards of it) in the order of the epoch, which is the same for every seed."""
        order = np.random.default_rng([epoch, 0x0B5E]).permutation(self.train.numel())
        size = self.batches.size
        parts = [order[start : start + size] for start in range(0, order.size, size)]

        def read(part: Any) -> tuple[int, list[tuple[Tensor, Tensor]]]:
            pieces = np.array_split(part, self.shards)
            return part.size, [self._rows(torch.from_numpy(pieces[s])) for s in self.mine]

        # A gather from memory has no disk to wait for: another thread would only take the cores from the model.
        threaded = self.held is None or self.device.type == "cuda"
        for rows, shards in _ahead(read, parts, self.device, threaded=threaded):
            yield rows, [Batch((terms,), y) for terms, y in shards]

    def stream(self, positions: Tensor, part: int, parts: int) -> Iterator[Batch]:
        """Consecutive rows in batches; of several processes, those of one."""
        mine = positions.tensor_split(parts)[part]
        if positions is self.val and self.held_val is not None:
            rows, size = self.held_val.tensor_split(parts)[part], self.batches.size
            for terms, y in zip(rows.split(size), self.y[mine].split(size), strict=True):
                if terms.shape[0]:
                    yield Batch((self._pinned(terms).to(self.device),), y.to(self.device))
            return

        def read(rows: Tensor) -> tuple[Tensor, Tensor]:
            return self._pinned(self.bases.read(rows)), self.y[rows].to(self.device)

        pieces = [rows for rows in mine.split(self.batches.size) if rows.numel()]
        for terms, y in _ahead(read, pieces, self.device):
            yield Batch((terms,), y)

    def _rows(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        positions = self.train[chosen]
        terms = self.bases.read(positions) if self.held is None else self.held.index_select(0, chosen)
        return self._pinned(terms), self.y[positions].to(self.device)

    def _pinned(self, terms: Tensor) -> Tensor:
        return terms.pin_memory() if self.device.type == "cuda" else terms


class BasesTask:
    owner = "fit"

    def __init__(self, source: BasesSource, runs: Sequence[Run]) -> None:
        self.source, self.runs, self.metric = source, runs, source.metric
        self.class_weights = self._class_weights()
        self.evaluate_every, self.train_rows = source.batches.evaluate_every, source.train.numel()
        self.shards, self.mine = source.shards, source.mine

    def training_batches(self, epoch: int) -> Iterator[tuple[int, list[Batch]]]:
        for rows, shards in self.source.batches_of(epoch):
            yield rows, [replace(batch, class_weights=self.class_weights) for batch in shards]

    def _class_weights(self) -> Tensor | None:
        like, source = next(self.runs[0].model.parameters()), self.source
        runs = [replace(run, split=Split("stored", None, source.train, source.val, source.test)) for run in self.runs]
        return weights_of_classes(runs, source.y, like)

    def validation_batches(self, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        return self.source.stream(self.source.val, part, parts)

    def test_batches(self, run: Run, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        return self.source.stream(self.source.test, part, parts)

    def keep(self, positions: Sequence[int]) -> None:
        """Batches are the same for all runs; the weights of classes are theirs."""
        if self.class_weights is not None:
            self.class_weights = self.class_weights[positions]


def _ahead(read: Callable[[Any], Any], parts: Sequence[Any], device: torch.device, *, threaded: bool = True) -> Iterator[Any]:
    """What ``read`` gives for each part, moved to the device; read one part ahead in a thread."""
    if not threaded:
        for part in parts:
            yield _moved(read(part), device)
        return
    if not parts:
        return
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(read, parts[0])
        for number in range(len(parts)):
            made = following.result()
            if number + 1 < len(parts):
                following = reader.submit(read, parts[number + 1])
            yield _moved(made, device)


def _moved(made: Any, device: torch.device) -> Any:
    if device.type == "cpu":
        return made
    if isinstance(made, Tensor):
        return made.to(device, non_blocking=True)
    return type(made)(_moved(item, device) for item in made) if isinstance(made, tuple | list) else made


def stored_split(bases: Bases, kind: str = "fixed", seed: int = 0) -> Split:
    """A split of the stored nodes: one of the fixed ones that came with the data, or one of another kind, by ``data.split``."""
    if bases.labels is None:
        raise InputError("stored_split", "the bases", "labels", got="none", verb="have")
    if kind != "fixed":
        y = torch.full((bases.num_nodes,), -1, dtype=torch.int64)
        y[bases.nodes] = bases.labels
        return split(y, kind, seed)
    if bases.parts is None:
        raise InputError("stored_split", "kind 'fixed'", "parts in the bases", got="none", hint="Use 'uniform'.", verb="have")
    count = bases.parts.shape[1]
    number = 0 if count == 1 else integer("stored_split", f"seed of the {count} fixed splits", seed, 0, count - 1)
    parts = (bases.nodes[bases.parts[:, number] == part].sort().values for part in (1, 2, 3))
    return Split("fixed", number, *parts)
