"""Training with early stopping: many runs side by side, or one."""

import inspect
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, flag, integer, real
from chebnet2d._device import checked_device
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.random_streams import Stream
from chebnet2d.models import features_of
from chebnet2d.nn import Features
from chebnet2d.training.halving import check_rungs, check_trials, worse_half
from chebnet2d.training.metrics import negative_log_likelihood, node_weights, roc_auc, weighted_accuracy
from chebnet2d.training.settings import Settings
from chebnet2d.training.stack import Stack
from chebnet2d.training.threads import run_on_threads


class SplitLike(Protocol):
    """Three sets of node indices with a name and a seed (``chebnet2d.data.Split``)."""

    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def train(self) -> Tensor: ...
    @property
    def val(self) -> Tensor: ...
    @property
    def test(self) -> Tensor: ...


@dataclass(frozen=True)
class Run:
    """One training: a model, a split, a seed (initial parameters and dropout) and settings."""

    model: nn.Module
    split: SplitLike
    seed: int = 0
    settings: Settings = field(default_factory=Settings)


@dataclass
class History:
    """One number an epoch."""

    train_loss: list[float] = field(default_factory=list)
    val_loss: list[float] = field(default_factory=list)
    val_metric: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """What a run reached at its best epoch, judged on the validation nodes alone. The model holds that state.

    ``val_metric`` is the dataset's own metric (``metric``: "accuracy" or "roc_auc"). The test numbers are read once, from the
    best state; they are None when ``test=False``. ``test_roc_auc`` is None unless there are two classes.
    """

    model: nn.Module
    split: SplitLike
    seed: int
    settings: Settings
    metric: str
    best_epoch: int
    epochs: int
    val_loss: float
    val_metric: float
    test_accuracy: float | None
    test_roc_auc: float | None
    seconds: float
    history: History
    pruned: bool = False
    """The run left before it was done: at a rung, or because the time was up."""

    @property
    def test_metric(self) -> float | None:
        return self.test_roc_auc if self.metric == "roc_auc" else self.test_accuracy


@dataclass(frozen=True)
class Progress:
    """After every epoch: how many runs are still in the stack, and the best validation metric so far."""

    epoch: int
    epochs: int
    active: int
    runs: int
    best_val_metric: float


Report = Callable[[Progress], None]


def fit(
    model: nn.Module,
    data: Any,
    split: SplitLike,
    seed: int = 0,
    *,
    initialise: bool = True,
    device: str | torch.device | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> Result:
    """Train one model on one split, full batch, with Adam and cross entropy; the best state is restored.

    Args:
        model: any module with ``forward(x, edge_index, edge_weight)`` that gives N x C logits.
        data: a torch_geometric ``Data`` with x, edge_index, y (-1 = unlabelled) and perhaps edge_weight.
        split: from ``chebnet2d.data.split``.
        seed: of the initial parameters and of dropout. The same seed gives the same result on one machine.
        initialise: draw the parameters anew from the seed; False goes on from those that the model has.
        device: where to train; default: where the model is. It stays there.
        progress: called after every epoch.
        settings: see ``Settings``: lr, weight_decay, filter_lr, filter_weight_decay, epochs, patience, monitor, ...
    """
    run = Run(model, split, seed, Settings.of(**settings))
    return fit_many([run], data, initialise=initialise, device=device, progress=progress)[0]


def fit_many(
    runs: Sequence[Run],
    data: Any,
    *,
    width: int | None = None,
    initialise: bool = True,
    device: str | torch.device | None = None,
    test: bool = True,
    progress: Report | None = None,
    rungs: Sequence[int] = (),
    trials: Sequence[int] | None = None,
    time_limit: float | None = None,
) -> list[Result]:
    """Train runs of one model class and shape side by side; each follows the path it would take alone, up to rounding.

    Every run has its own seed, split, learning rates, weight decays and dropout rates, and its own random stream. A run that
    stops leaves the stack.

    Args:
        width: how many runs share a stack at most; by default what the caches hold (``stack_width``). Several stacks are
            trained at a time, each on one core.
        device: where to train; default: where the first model is. All stay there.
        test: compute test scores at the end. A search has no business with them.
        rungs: increasing epochs, for successive halving: after each of them the worse half of the trials that are still in
            training leaves, judged by the mean of their best validation metric so far; ties by the lower loss. One stays.
        trials: a number for each run. Runs with the same number are one trial (one setting on several splits): judged
            together, and they leave together. By default every run is a trial. Trials may differ in shape: runs of the same
            shape share stacks, and all trials are judged together.
        time_limit: in seconds; runs that are not done by then end as they are, after one epoch at least.
    """
    runs = list(runs)
    if not runs:
        return []
    groups = [list(range(len(runs)))] if trials is None else _alike(runs)
    where = checked_device("fit_many", device, runs[0].model)
    inputs = check_data(data, runs, where)
    rungs = check_rungs(rungs)
    trial_of = list(range(len(runs))) if trials is None else check_trials(trials, len(runs))
    limit = math.inf if time_limit is None else time.perf_counter() + real("fit_many", "time_limit", time_limit, 0)
    for run in runs:
        integer("fit_many", "seed", run.seed, 0)
        if flag("fit_many", "initialise", initialise):
            initialise_parameters(run.model, run.seed)  # before the move: the same start wherever it goes
        run.model.to(where)
    parts: list[list[int]] = []
    for group in groups:
        model = runs[group[0]].model
        widest = stack_width(model, data) if width is None else integer("fit_many", "width", width, 1)
        widest = math.ceil(len(group) / math.ceil(len(group) / widest))  # an even cut: a stack of few runs is slow
        parts += [group[start : start + widest] for start in range(0, len(group), widest)]

    results: dict[int, Result] = {}
    report = None if progress is None else _one_at_a_time(progress)
    run_jobs = partial(run_on_threads, share=_large(inputs[0], runs[0].model))

    def finish(stack: _StackFit, part: Sequence[int], stop: threading.Event) -> None:
        stack.advance(math.inf, limit, report, stop)
        results.update(zip(part, stack.results(test), strict=True))

    if rungs:
        stacks = [_StackFit([runs[r] for r in part], data, inputs) for part in parts]
        for rung in rungs:
            run_jobs([partial(stack.advance, rung, limit, report) for stack in stacks])
            scores: dict[int, list[tuple[float, float]]] = {}
            running: set[int] = set()
            for stack, part in zip(stacks, parts, strict=True):
                for tracker, r in zip(stack.trackers, part, strict=True):
                    scores.setdefault(trial_of[r], []).append((tracker.best_metric, tracker.best_loss))
                running.update(trial_of[part[i]] for i in stack.active)
            leaving = worse_half(scores, running)
            for stack, part in zip(stacks, parts, strict=True):
                stack.drop([i for i, r in enumerate(part) if trial_of[r] in leaving])
        run_jobs([partial(finish, stack, part) for stack, part in zip(stacks, parts, strict=True)])
    else:  # as many stacks in memory as there are cores

        def whole(part: Sequence[int], stop: threading.Event) -> None:
            finish(_StackFit([runs[r] for r in part], data, inputs), part, stop)

        run_jobs([partial(whole, part) for part in parts])
    return [results[r] for r in range(len(runs))]


def _large(x: Features, model: nn.Module) -> bool:
    """Whether one run has products large enough for several cores: multiplications of the features with the widest layer."""
    entries = x.nnz if isinstance(x, SparseOperator) else x.shape[0] * x.shape[1]
    return entries * _widest(model) > LARGE_PRODUCT


def _one_at_a_time(progress: Report) -> Report:
    """Stacks report from their own threads; whoever listens need not know."""
    lock = threading.Lock()

    def report(now: Progress) -> None:
        with lock:
            progress(now)

    return report


def _alike(runs: Sequence[Run]) -> list[list[int]]:
    """Runs that may share a stack, by position."""
    groups: dict[Any, list[int]] = {}
    for r, run in enumerate(runs):
        model: Any = run.model
        shapes = tuple((name, value.shape) for name, value in [*model.named_parameters(), *model.named_buffers()])
        groups.setdefault((type(model), getattr(model, "stack_key", ()), shapes), []).append(r)
    return list(groups.values())


def initialise_parameters(model: nn.Module, seed: int) -> None:
    """Draw all parameters anew from the seed, leaving torch's global generator as it was."""

    def reset(module: nn.Module) -> None:
        own = getattr(module, "reset_parameters", None)
        if callable(own):
            own()
        else:
            for child in module.children():
                reset(child)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reset(model)


def stack_width(model: nn.Module, data: Any) -> int:
    """How many runs share a stack: as many as keep the working set within a budget of cache, from 1 to 32.

    A function of shapes alone, never of the machine: rounding depends on who shares a stack.
    """
    parameters = sum(p.numel() for p in model.parameters())
    floats = 4 * parameters + 4 * data.num_nodes * _widest(model)
    return max(1, min(32, int(STACK_BYTES / (4 * floats))))


def _widest(model: nn.Module) -> int:
    return max((p.shape[-1] for p in model.parameters() if p.dim() > 1), default=1)


STACK_BYTES = 32 * 2**20
LARGE_PRODUCT = 2**25


def check_data(data: Any, runs: Sequence[Run], device: torch.device) -> tuple[Features, Any, Any]:
    """What the models are called with, after the checks whose failure would surface deep inside torch.

    Only the features are moved to the device: operators of the graph are made where these are.
    """
    model = runs[0].model
    try:
        inspect.signature(model.forward).bind(None, None, None)
    except TypeError:
        raise InputError(
            "fit", "the model", "(x, edge_index, edge_weight)", got=f"{type(model).__name__} whose forward does not", verb="take"
        ) from None
    dtype = next((p.dtype for p in model.parameters()), torch.float32)
    x = features_of(data)
    values = x.values if isinstance(x, SparseOperator) else x
    if not isinstance(values, Tensor) or not bool(torch.isfinite(values).all()):
        raise InputError("fit", "data.x", "finite", got="NaN or infinite values", hint="Fill or drop them first.")
    y = getattr(data, "y", None)
    num_nodes = x.shape[0]
    if not isinstance(y, Tensor) or y.shape != (num_nodes,) or y.is_floating_point():
        raise InputError("fit", "data.y", f"{num_nodes} integer class labels (-1 = unlabelled)", y)
    for run in runs:
        split = run.split
        for name in ("train", "val", "test"):
            part = getattr(split, name, None)
            if not isinstance(part, Tensor) or part.dim() != 1 or part.is_floating_point() or part.dtype == torch.bool:
                raise InputError("fit", f"split.{name}", "a vector of node indices", part)
            if part.numel() and (int(part.min()) < 0 or int(part.max()) >= num_nodes):
                raise InputError("fit", f"split.{name}", f"nodes below {num_nodes}", got=str(int(part.max())), verb="hold")
            if bool((y[part] < 0).any()):
                raise InputError("fit", f"split.{name}", "labelled nodes only", got="one with label -1", verb="hold")
        for name in ("train", "val"):
            if getattr(split, name).numel() == 0:
                raise InputError(
                    "fit",
                    f"split.{name}",
                    "empty",
                    got="0 nodes",
                    hint="Too few nodes have labels for this split?",
                    verb="not be",
                )
    return x.to(dtype=dtype, device=device), data.edge_index, data.get("edge_weight")


class _StackFit:
    """A stack in training: it can stop after any epoch and go on."""

    def __init__(self, runs: Sequence[Run], data: Any, inputs: tuple[Features, Any, Any]) -> None:
        self.runs = runs
        self.inputs = inputs
        streams = [Stream(np.random.SeedSequence(run.seed, spawn_key=(1,))) for run in runs]
        self.stack = Stack([run.model for run in runs], [run.settings for run in runs], streams)
        self.trackers = [_Tracker(run) for run in runs]
        self.active = list(range(len(runs)))
        like = next(iter(self.stack.params.values()))
        self.y = data.y.to(like.device)
        self.metric = data.get("metric") or "accuracy"
        self.train = node_weights([run.split.train for run in runs], self.y.numel(), like)
        self.val = node_weights([run.split.val for run in runs], self.y.numel(), like)
        self.longest = max(run.settings.epochs for run in runs)
        self.epoch = 0
        self.seconds = 0.0

    def advance(self, until: float, limit: float, progress: Report | None, stop: threading.Event) -> None:
        """Epochs up to ``until``, or until every run is done, or the clock shows ``limit``: all that are not done leave then."""
        start = time.perf_counter()
        while self.active and self.epoch < until and not stop.is_set():
            self._one_epoch()
            if time.perf_counter() >= limit:
                self.drop(self.active)
            if progress is not None:
                best = max(tracker.best_metric for tracker in self.trackers)
                progress(Progress(self.epoch, self.longest, len(self.active), len(self.runs), best))
        self.seconds += time.perf_counter() - start

    def _one_epoch(self) -> None:
        self.epoch += 1
        logits, penalty = self.stack.forward(self.inputs, training=True)
        if self.epoch == 1:
            check_logits("fit", logits, self.y)
        losses = (negative_log_likelihood(logits, self.y) * self.train).sum(dim=1)
        self.stack.step(losses.sum() if penalty is None else losses.sum() + penalty)
        if self.stack.on_validation:
            logits, _ = self.stack.forward(self.inputs, training=True)
            self.stack.step((negative_log_likelihood(logits, self.y) * self.val).sum(), on_validation=True)
        with torch.no_grad():
            logits, _ = self.stack.forward(self.inputs, training=False)
            val_losses = (negative_log_likelihood(logits, self.y) * self.val).sum(dim=1).tolist()
            if self.metric == "roc_auc":
                scores = [
                    roc_auc(run_logits, self.y, self.runs[r].split.val) for run_logits, r in zip(logits, self.active, strict=True)
                ]
            else:
                scores = weighted_accuracy(logits, self.y, self.val).tolist()
        stays = []
        for position, (r, loss) in enumerate(zip(self.active, losses.tolist(), strict=True)):
            tracker = self.trackers[r]
            if tracker.update(self.epoch, loss, val_losses[position], scores[position]):
                tracker.best_state = self.stack.snapshot(position)
            if not tracker.done(self.epoch):
                stays.append(position)
        self._keep(stays)

    def _keep(self, positions: list[int]) -> None:
        if len(positions) < len(self.active):
            self.active = [self.active[position] for position in positions]
            self.train, self.val = self.train[positions], self.val[positions]
            if positions:
                self.stack.keep(positions)

    def drop(self, runs: Sequence[int]) -> None:
        """These runs leave before they are done; runs that are done already are left alone."""
        leaving = set(runs) & set(self.active)
        for r in leaving:
            self.trackers[r].pruned = True
        self._keep([position for position, r in enumerate(self.active) if r not in leaving])

    def results(self, test: bool) -> list[Result]:
        seconds = self.seconds / len(self.runs)
        return [tracker.result(self.inputs, self.y, self.metric, test, seconds) for tracker in self.trackers]


class _Tracker:
    """The best epoch of one run so far, and whether it is time to stop."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.history = History()
        self.best_epoch = 0
        self.best_metric = -math.inf
        self.best_loss = math.inf
        self.best_state: dict[str, Tensor] = {}
        self.pruned = False

    def update(self, epoch: int, train_loss: float, val_loss: float, val_metric: float) -> bool:
        self.history.train_loss.append(train_loss)
        self.history.val_loss.append(val_loss)
        self.history.val_metric.append(val_metric)
        if self.run.settings.monitor == "loss":
            better = val_loss < self.best_loss
        else:
            better = (val_metric, -val_loss) > (self.best_metric, -self.best_loss)
        if better or self.best_epoch == 0:  # the first epoch counts even if its loss is not a number
            self.best_epoch, self.best_metric, self.best_loss = epoch, val_metric, val_loss
            return True
        return False

    def done(self, epoch: int) -> bool:
        settings = self.run.settings
        return epoch >= settings.epochs or epoch - self.best_epoch >= settings.patience

    def result(self, inputs: tuple[Any, ...], y: Tensor, metric: str, test: bool, seconds: float) -> Result:
        model, split = self.run.model, self.run.split
        model.load_state_dict(self.best_state, strict=False)
        model.eval()
        accuracy = auc = None
        if test:
            with torch.no_grad():
                out = model(*inputs)
            logits = out[0] if isinstance(out, tuple) else out
            accuracy = float((logits[split.test].argmax(dim=1) == y[split.test]).double().mean())
            auc = roc_auc(logits, y, split.test) if logits.shape[1] == 2 else None
        return self.record(metric, accuracy, auc, seconds)

    def record(self, metric: str, accuracy: float | None, auc: float | None, seconds: float) -> Result:
        return Result(
            model=self.run.model,
            split=self.run.split,
            seed=self.run.seed,
            settings=self.run.settings,
            metric=metric,
            best_epoch=self.best_epoch,
            epochs=len(self.history.train_loss),
            val_loss=self.best_loss,
            val_metric=self.best_metric,
            test_accuracy=accuracy,
            test_roc_auc=auc,
            seconds=seconds,
            history=self.history,
            pruned=self.pruned,
        )


def check_logits(owner: str, logits: Tensor, y: Tensor) -> None:
    """``logits``: R x N x C, for N labels."""
    if logits.dim() != 3 or logits.shape[1] != y.numel():
        raise InputError(owner, "the model", f"{y.numel()} x C logits", got=f"shape {tuple(logits.shape[1:])}", verb="return")
    if y.numel() and int(y.max()) >= logits.shape[2]:
        raise InputError(
            owner,
            "labels",
            f"below the model's {logits.shape[2]} classes",
            got=str(int(y.max())),
            hint="Build the model with out_channels = number of classes.",
        )
