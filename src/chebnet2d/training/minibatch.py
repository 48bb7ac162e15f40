"""Training on precomputed bases: mini batches of rows, the same settings and early stopping as ``fit``, no graph.

    batch     a part of the shuffled training rows, B x (D + 1) x F
    shard     a part of a batch with a random stream of its own: what one process works on under ``torchrun``

One process with S shards and S processes with one each do the same arithmetic.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, flag, integer
from chebnet2d._device import checked_device
from chebnet2d.bases import Bases, parse_bytes
from chebnet2d.bases.sizes import free_bytes
from chebnet2d.data import Split, split
from chebnet2d.models import OnBases
from chebnet2d.training.batch_loop import BATCH, StackLearner, train
from chebnet2d.training.fit import Report, Result, Run, SplitLike, initialise_parameters
from chebnet2d.training.settings import Settings


def fit_on_bases(
    model: nn.Module,
    bases: Bases,
    split: SplitLike,
    seed: int = 0,
    *,
    batch_size: int = BATCH,
    shards: int = 1,
    labels: Tensor | None = None,
    memory: int | str | None = None,
    device: str | torch.device = "cpu",
    initialise: bool = True,
    progress: Report | None = None,
    **settings: Any,
) -> Result:
    """Train one model on bases; the best state on the validation nodes is restored.

    Args:
        model: of ``on_bases``, or any module from B x (D + 1) x F terms to B x C logits.
        split: node indices, all of them stored in the bases.
        seed: of the initial parameters and of dropout. The order of the rows is the same for every seed.
        batch_size: rows of a batch.
        shards: parts of a batch with a random stream each, see above.
        labels: N class indices; default: those stored with the bases.
        memory: up to this size the training rows are held in memory; beyond, they are read for each batch. Default: a quarter
            of what is free.
        device: where the model runs. Batches follow it: from pinned memory and while the last one is at work, if it is a GPU.
        settings: see ``Settings``.
    """
    run = Run(model, split, seed, Settings.of(**settings))
    options: dict[str, Any] = {"batch_size": batch_size, "shards": shards, "labels": labels, "memory": memory, "device": device}
    return fit_many_on_bases([run], bases, initialise=initialise, progress=progress, **options)[0]


def fit_many_on_bases(
    runs: Sequence[Run],
    bases: Bases,
    *,
    batch_size: int = BATCH,
    shards: int = 1,
    labels: Tensor | None = None,
    memory: int | str | None = None,
    device: str | torch.device = "cpu",
    initialise: bool = True,
    test: bool = True,
    progress: Report | None = None,
) -> list[Result]:
    """Train runs of one model class, shape and split side by side: every batch is read once for all of them.

    Each run follows the path it would take alone, up to rounding.
    """
    runs = list(runs)
    if not runs:
        return []
    task = Task(runs, bases, batch_size, labels, memory, device)
    integer("fit_on_bases", "shards", shards, 1, batch_size)
    for run in runs:
        integer("fit_on_bases", "seed", run.seed, 0)
        if flag("fit_on_bases", "initialise", initialise):
            initialise_parameters(run.model, run.seed)
        run.model.to(device)
    return train(task, StackLearner(runs, shards, task.owner), shards=shards, mine=range(shards), test=test, progress=progress)


class Task:
    """Checked: the rows of each part, their labels, and where batches go."""

    def __init__(
        self,
        runs: Sequence[Run],
        bases: Bases,
        batch_size: int,
        labels: Tensor | None,
        memory: int | str | None,
        device: str | torch.device,
    ) -> None:
        owner = "fit_on_bases"
        if not isinstance(bases, Bases):
            raise InputError(owner, "bases", "Bases of a folder", bases)
        self.owner, self.metric = owner, bases.metric
        self.runs, self.bases = list(runs), bases
        self.batch_size = integer(owner, "batch_size", batch_size, 1)
        self.device = checked_device(owner, device)
        for run in runs:
            if isinstance(run.model, OnBases) and run.model.degree != bases.degree:
                raise InputError(owner, "the model", f"of degree {bases.degree}, as the bases", got=str(run.model.degree))
        split = runs[0].split
        for part in ("train", "val", "test"):
            if any(not torch.equal(getattr(run.split, part), getattr(split, part)) for run in runs[1:]):
                raise InputError(
                    owner, "the runs of one stack", "one split", got="others", hint="Train them in separate calls.", verb="have"
                )
        self.train, self.val, self.test = (bases.positions(getattr(split, part)) for part in ("train", "val", "test"))
        if self.train.numel() == 0 or self.val.numel() == 0:
            raise InputError(owner, "split.train and split.val", "empty", got="no nodes", verb="not be")
        self.y = self._labels(labels)
        parts = torch.cat([self.train, self.val, self.test])
        if bool((self.y[parts] < 0).any()):
            raise InputError(owner, "the split", "labelled nodes only", got="one with label -1", verb="hold")
        limit = free_bytes() // 4 if memory is None else parse_bytes(memory, owner)
        size = 4 * self.train.numel() * (bases.degree + 1) * bases.num_features
        # Read in stored order, once; batches are then gathered from memory.
        self.held = self._gathered(self.train) if size <= limit else None

    def _labels(self, labels: Tensor | None) -> Tensor:
        if labels is None:
            if self.bases.labels is None:
                raise InputError("fit_on_bases", "labels", "given for bases without labels", got="None")
            return self.bases.labels
        if not isinstance(labels, Tensor) or labels.shape != (self.bases.num_nodes,) or labels.is_floating_point():
            raise InputError("fit_on_bases", "labels", f"{self.bases.num_nodes} class indices", labels)
        return labels[self.bases.nodes]

    def _gathered(self, positions: Tensor) -> Tensor:
        """Rows from disk by parts, of which nothing stays mapped."""
        out: Tensor | None = None
        for start in range(0, positions.numel(), self.batch_size):
            part = self._read(positions[start : start + self.batch_size])
            if out is None:
                out = part.new_empty(positions.numel(), *part.shape[1:])
            out[start : start + self.batch_size] = part
        assert out is not None
        return out

    def _read(self, positions: Tensor) -> Tensor:
        terms = self.bases.read(positions)
        self.bases.forget()
        return terms

    def training_batches(self, epoch: int, shards: int, mine: Sequence[int]) -> Iterator[tuple[int, list[tuple[Tensor, Tensor]]]]:
        """(rows of the batch, [(terms, labels) of each shard that is ours]) in the order of the epoch."""
        order = np.random.default_rng([epoch, 0x0B5E]).permutation(self.train.numel())
        batches = [order[start : start + self.batch_size] for start in range(0, order.size, self.batch_size)]

        def read(batch: Any) -> tuple[int, list[tuple[Tensor, Tensor]]]:
            pieces = np.array_split(batch, shards)
            return batch.size, [self._rows(torch.from_numpy(pieces[s])) for s in mine]

        # A gather from memory has no disk to wait for: another thread would only take the cores from the model.
        yield from _ahead(read, batches, self.device, threaded=self.held is None or self.device.type == "cuda")

    def _rows(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        positions = self.train[chosen]
        terms = self._read(positions) if self.held is None else self.held.index_select(0, chosen)
        return self._pinned(terms), self.y[positions].to(self.device)

    def streamed(self, positions: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """(terms, labels) of consecutive rows, in batches."""
        parts = list(positions.split(self.batch_size))

        def read(part: Tensor) -> tuple[Tensor, Tensor]:
            return self._pinned(self._read(part)), self.y[part].to(self.device)

        yield from _ahead(read, parts, self.device)

    def _pinned(self, terms: Tensor) -> Tensor:
        return terms.pin_memory() if self.device.type == "cuda" else terms


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


def stored_split(bases: Bases, protocol: str = "fixed", seed: int = 0) -> Split:
    """A split of the stored nodes: one of the fixed ones that came with the data, or by a protocol of ``data.split``."""
    if bases.labels is None:
        raise InputError("stored_split", "the bases", "labels", got="none", verb="have")
    if protocol != "fixed":
        y = torch.full((bases.num_nodes,), -1, dtype=torch.int64)
        y[bases.nodes] = bases.labels
        return split(y, protocol, seed)
    if bases.parts is None:
        raise InputError("stored_split", "protocol 'fixed'", "parts in the bases", got="none", hint="Use 'uniform'.", verb="have")
    count = bases.parts.shape[1]
    number = 0 if count == 1 else integer("stored_split", f"seed of the {count} fixed splits", seed, 0, count - 1)
    parts = (bases.nodes[bases.parts[:, number] == part].sort().values for part in (1, 2, 3))
    return Split("fixed", number, *parts)


def predict_on_bases(
    model: nn.Module, bases: Bases, nodes: Tensor | None = None, *, batch_size: int = BATCH, device: str | torch.device = "cpu"
) -> Tensor:
    """Logits of the nodes (default: all that are stored, in stored order), in streaming batches."""
    positions = torch.arange(len(bases)) if nodes is None else bases.positions(nodes)
    model.to(device)
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return torch.cat([model(bases.read(part).to(device)).cpu() for part in positions.split(batch_size)])
    finally:
        model.train(training)
