"""``fit`` and ``fit_many``: from runs and data to results."""

import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from chebnet2d._checks import flag, integer, real
from chebnet2d._device import checked_device
from chebnet2d.training.batches import Batches
from chebnet2d.training.learners.stack import stack_group
from chebnet2d.training.loop import Training
from chebnet2d.training.processes import process_rank
from chebnet2d.training.pruning import Pruner, Standing
from chebnet2d.training.run import EpochProgress, Result, Run, SplitLike
from chebnet2d.training.settings import Settings
from chebnet2d.training.tasks import Source, source_of
from chebnet2d.training.threads import run_on_threads

OnEpoch = Callable[[EpochProgress], None]

_GENERATOR = threading.Lock()  # torch has one generator for all threads


def fit(
    model: nn.Module,
    source: Any,
    split: SplitLike,
    seed: int = 0,
    *,
    batches: Batches | int | None = None,
    initialise: bool = True,
    device: str | torch.device | None = None,
    progress: OnEpoch | None = None,
    **settings: Any,
) -> Result:
    """Train one model on one split with Adam and cross entropy; the best state on the validation nodes is restored.

    Args:
        model: any module with ``forward(x, edge_index, edge_weight)`` that gives N x C logits; on bases, from
            B x (D + 1) x F terms to B x C logits (``chebnet2d.models.on_bases``).
        source: a torch_geometric ``Data`` with x, edge_index, y (-1 = unlabelled) and perhaps edge_weight; or ``Bases``.
        split: from ``chebnet2d.data.split``.
        seed: of the initial parameters, of dropout and of the batches. The same seed gives the same result on one machine.
        batches: mini batches of so many nodes; default: the whole graph at once. Bases are always read in batches; under
            ``torchrun`` their processes share each one.
        initialise: draw the parameters anew from the seed; False goes on from those that the model has.
        device: where to train; default: where the model is. It stays there.
        progress: called after every epoch.
        settings: see ``Settings``: lr, weight_decay, filter_lr, filter_weight_decay, epochs, patience, monitor, ...
    """
    run = Run(model, split, seed, Settings.of(**settings))
    return fit_many([run], source, batches=batches, initialise=initialise, device=device, progress=progress)[0]


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
    """
    runs = list(runs)
    if not runs:
        return []
    rank, _ = process_rank()
    where = checked_device("fit", device, runs[0].model)
    data = source_of(source, Batches.of(batches), runs, where)
    limit = math.inf
    if pruner is not None and pruner.seconds is not None:
        limit = time.perf_counter() + real("fit_many", "pruner.seconds", pruner.seconds, 0)
    for run in runs:
        integer("fit", "seed", run.seed, 0)
        if flag("fit", "initialise", initialise):
            initialise_parameters(run.model, run.seed)  # before the move: the same start wherever it goes
        run.model.to(where)
    parts = _stacks(runs, data, None if width is None else integer("fit_many", "width", width, 1))
    results: dict[int, Result] = {}
    report = None if progress is None or rank else _one_at_a_time(progress)
    run_jobs = partial(run_on_threads, share=data.large)

    def begin(part: Sequence[int]) -> Training:
        task = data.task([runs[r] for r in part])
        return Training(task, data.learner(task.runs))

    def finish(training: Training, part: Sequence[int], stop: threading.Event) -> None:
        training.advance(math.inf, limit, report, stop)
        results.update(zip(part, training.results(test), strict=True))

    if pruner is not None and pruner.rungs:
        trainings = [begin(part) for part in parts]
        for rung in pruner.rungs:
            run_jobs([partial(training.advance, rung, limit, report) for training in trainings])
            _prune(pruner, trainings, parts)
        run_jobs([partial(finish, training, part) for training, part in zip(trainings, parts, strict=True)])
    else:  # as many stacks in memory as there are cores
        run_jobs([lambda stop, part=part: finish(begin(part), part, stop) for part in parts])  # type: ignore[misc]
    return [results[r] for r in range(len(runs))]


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
