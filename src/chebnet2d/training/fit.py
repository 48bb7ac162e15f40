"""``fit`` and ``fit_many``: from runs and data to results."""

import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from chebnet2d._checks import flag, integer, real
from chebnet2d._device import checked_device
from chebnet2d.models import NodeClassifier, SeenNodes
from chebnet2d.training.allocation import keep_freed_memory
from chebnet2d.training.batches import Batches
from chebnet2d.training.checkpoint import Checkpoint
from chebnet2d.training.learners.stack import stack_group
from chebnet2d.training.loop import Training
from chebnet2d.training.metrics import check_metric
from chebnet2d.training.processes import process_rank
from chebnet2d.training.pruning import Pruner, Standing
from chebnet2d.training.run import EpochProgress, Interrupted, Result, Run, as_split
from chebnet2d.training.settings import Settings
from chebnet2d.training.tasks import Source, source_of
from chebnet2d.training.threads import run_on_threads

OnEpoch = Callable[[EpochProgress], None]

_GENERATOR = threading.Lock()  # torch has one generator for all threads


def fit(
    model: nn.Module,
    source: Any,
    split: Any,
    seed: int = 0,
    *,
    batches: Batches | int | None = None,
    initialise: bool = True,
    device: str | torch.device | None = None,
    progress: OnEpoch | None = None,
    metric: str | None = None,
    checkpoint: Checkpoint | None = None,
    **settings: Any,
) -> Result:
    """Train one model on one split with Adam and cross entropy; the best state on the validation nodes is restored.

    Args:
        model: any module with ``forward(x, edge_index, edge_weight)`` that gives N x C logits; on bases, from
            B x (D + 1) x F terms to B x C logits (``chebnet2d.models.on_bases``).
        source: a torch_geometric ``Data`` with x, edge_index, y (-1 = unlabelled) and perhaps edge_weight; or ``Bases``.
        split: from ``chebnet2d.data.split``; or train, val and test as a mapping or a tuple of indices or masks (numpy, torch).
        seed: of the initial parameters, of dropout and of the batches. The same seed gives the same result on one machine.
        batches: mini batches of so many nodes; default: the whole graph at once. Bases are always read in batches; under
            ``torchrun`` their processes share each one.
        initialise: draw the parameters anew from the seed; False goes on from those that the model has.
        device: where to train; default: where the model is. It stays there.
        progress: called after every epoch.
        metric: by which epochs are compared on the validation nodes (``chebnet2d.training.metrics``); default: that of the data.
        checkpoint: of a training on bases: keeps its state in a file, from which the same call goes on.
        settings: see ``Settings``: lr, weight_decay, filter_lr, filter_weight_decay, epochs, patience, monitor, ...

    Ctrl-C raises ``Interrupted``, a KeyboardInterrupt, with the best state so far in the model.
    """
    run = Run(model, split, seed, Settings.of(**settings))
    options: dict[str, Any] = {"batches": batches, "initialise": initialise, "device": device}
    return fit_together([([run], source)], progress=progress, metric=metric, checkpoint=checkpoint, **options)[0]


def fit_many(
    runs: Sequence[Run],
    source: Any,
    *,
    batches: Batches | int | None = None,
    width: int | None = None,
    initialise: bool = True,
    device: str | torch.device | None = None,
    test: bool = True,
    progress: OnEpoch | None = None,
    pruner: Pruner | None = None,
    metric: str | None = None,
) -> list[Result]:
    """Train runs side by side; each follows the path it would take alone, up to rounding.

    Every run has its own seed, split, learning rates, weight decays and dropout rates, and its own random stream. Runs of one
    model class and shape share stacks, and a run that stops leaves its stack. Several stacks are trained at a time, each on one
    core.

    Args:
        width: how many runs share a stack at most; by default what the caches hold (``stack_width``).
        device: where to train; default: where the first model is. All stay there.
        test: compute test scores at the end. A search has no business with them.
        pruner: lets runs leave before they are done, see ``chebnet2d.search.Halving``.

    Ctrl-C raises KeyboardInterrupt; the models that were in training then hold their best states so far.
    """
    options: dict[str, Any] = {"batches": batches, "width": width, "initialise": initialise, "device": device}
    return fit_together([(runs, source)], **options, test=test, progress=progress, pruner=pruner, metric=metric)


def fit_together(
    groups: Sequence[tuple[Sequence[Run], Any]],
    *,
    batches: Batches | int | None = None,
    width: int | None = None,
    initialise: bool = True,
    device: str | torch.device | None = None,
    test: bool = True,
    progress: OnEpoch | None = None,
    pruner: Pruner | None = None,
    metric: str | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[Result]:
    """``fit_many`` for runs on several sources, say one graph with its features prepared in several ways.

    ``groups``: runs and their source. All runs wait for each other at the rungs of the pruner, which counts them through, as the
    results are.
    """
    groups = [([replace(run, split=as_split(run.split)) for run in group], source) for group, source in groups if group]
    runs = [run for group, _ in groups for run in group]
    if not runs:
        return []
    keep_freed_memory()
    rank, _ = process_rank()
    where = checked_device("fit", device, runs[0].model)
    sources = [(group, source_of(data, Batches.of(batches), group, where)) for group, data in groups]
    for _, source in sources:
        if metric is not None:
            source.metric = check_metric("fit", metric, int(source.y.max()) + 1)
    limit = math.inf
    if pruner is not None and pruner.seconds is not None:
        limit = time.perf_counter() + real("fit_many", "pruner.seconds", pruner.seconds, 0)
    for run in runs:
        integer("fit", "seed", run.seed, 0)
        if flag("fit", "initialise", initialise):
            initialise_parameters(run.model, run.seed)  # before the move: the same start wherever it goes
        run.model.to(where)
    widest = None if width is None else integer("fit_many", "width", width, 1)
    parts: list[tuple[list[int], Source]] = []
    first = 0
    for group, source in sources:
        parts += [([first + r for r in part], source) for part in _stacks(group, source, widest)]
        first += len(group)
    results: dict[int, Result] = {}
    in_training: dict[int, tuple[Training, Sequence[int]]] = {}  # by the first run of the stack
    report = None if progress is None or rank else _one_at_a_time(progress)
    run_jobs = partial(run_on_threads, share=any(source.large for _, source in sources))

    def begin(part: Sequence[int], source: Source) -> Training:
        task = source.task([runs[r] for r in part])
        training = Training(task, source.learner(task.runs))
        if checkpoint is not None:
            checkpoint.resume(training, source.identity)
            training.after_epoch = checkpoint.after_epoch
        in_training[part[0]] = training, part
        return training

    def finish(training: Training, part: Sequence[int], stop: threading.Event) -> None:
        training.advance(math.inf, limit, report, stop)
        if not stop.is_set():
            results.update(zip(part, training.results(test), strict=True))
            del in_training[part[0]]

    try:
        if pruner is not None and pruner.rungs:
            trainings = [begin(part, source) for part, source in parts]
            stacks = [part for part, _ in parts]
            for rung in pruner.rungs:
                run_jobs([partial(training.advance, rung, limit, report) for training in trainings])
                _prune(pruner, trainings, stacks)
            run_jobs([partial(finish, training, part) for training, part in zip(trainings, stacks, strict=True)])
        else:  # as many stacks in memory as there are cores
            run_jobs([lambda stop, part=part: finish(begin(*part), part[0], stop) for part in parts])  # type: ignore[misc]
    except KeyboardInterrupt:
        for training, part in in_training.values():
            if all(one.best_epoch for one in training.stoppers):  # all have been looked at together
                results.update(zip(part, training.results(test=False), strict=True))
        _remember_graphs(groups)
        if len(runs) == 1 and results:
            raise Interrupted(results[0]) from None
        raise
    _remember_graphs(groups)
    return [results[r] for r in range(len(runs))]


def _remember_graphs(groups: Sequence[tuple[Sequence[Run], Any]]) -> None:
    """A model knows the graph that it was trained on: how its features were prepared, and its nodes."""
    for group, data in groups:
        for run in group:
            if isinstance(run.model, NodeClassifier) and hasattr(data, "get"):
                ids = data.get("node_ids")
                run.model.preparation = data.get("preparation")
                run.model.seen = SeenNodes(np.arange(data.num_nodes) if ids is None else ids, run.split)
                run.model.threshold = run.model.temperature = run.model.label_sets = None


def initialise_parameters(model: nn.Module, seed: int) -> None:
    """Draw all parameters anew from the seed, leaving torch's global generator as it was."""

    def reset(module: nn.Module) -> None:
        own = getattr(module, "reset_parameters", None)
        if callable(own):
            own()
        else:
            for child in module.children():
                reset(child)

    with _GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reset(model)


def _stacks(runs: Sequence[Run], source: Source, width: int | None) -> list[list[int]]:
    """Positions of the runs of each stack: of one class and shape, cut evenly, because a stack of few runs is slow."""
    groups: dict[Hashable, list[int]] = {}
    for r, run in enumerate(runs):
        groups.setdefault(stack_group(run.model), []).append(r)
    parts = []
    for group in groups.values():
        widest = source.width(runs[group[0]], width)
        even = math.ceil(len(group) / math.ceil(len(group) / widest))
        parts += [group[start : start + even] for start in range(0, len(group), even)]
    return parts


def _prune(pruner: Pruner, trainings: Sequence[Training], parts: Sequence[Sequence[int]]) -> None:
    standings: dict[int, Standing] = {}
    for training, part in zip(trainings, parts, strict=True):
        standings.update(zip(part, training.standings(), strict=True))
    leaving = set(pruner.leaving([standings[r] for r in range(len(standings))]))
    for training, part in zip(trainings, parts, strict=True):
        training.drop([i for i, r in enumerate(part) if r in leaving])


def _one_at_a_time(progress: OnEpoch) -> OnEpoch:
    """Stacks report from their own threads; whoever listens need not know."""
    lock = threading.Lock()

    def report(now: EpochProgress) -> None:
        with lock:
            progress(now)

    return report
