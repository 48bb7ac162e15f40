"""One candidate: its models on all folds trained side by side, cut off by the clock, and their answers."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from torch import nn

from chebnet2d._checks import InputError
from chebnet2d._sizes import free_bytes, show_bytes
from chebnet2d.auto.by_bases import bases_of, recipe_on_bases
from chebnet2d.auto.candidate import NOT_FINISHED, Answers, Candidate, Outcome, Status
from chebnet2d.auto.problem import Problem
from chebnet2d.models import Estimator, NodeClassifier, OnBases
from chebnet2d.recipes import AUTO, NEVER, ROWS, Recipe, choose_way
from chebnet2d.search import Halving
from chebnet2d.training import EpochProgress, Result, Run, fit_many

FAILED = "failed"
LEFT_OUT = "left out"
_MEASURED, _MEASURED_ON_BASES = (10, 20, 40, 80), (1, 2, 4, 8)  # epochs after which the rest is estimated
_USUAL = 2.5  # times the patience: epochs of a training, about, where it is not cut off
_COPIES = 6  # of the parameters: in the model and in the stack, the gradient, two moments and the best state
_ROWS = 12  # arrays of N x (widest layer) that a step holds, about

Trained = tuple[Outcome, Answers, list[nn.Module]]


class _TooSlow(Exception):
    def __init__(self, need: float) -> None:
        self.need = need


def train(
    problem: Problem,
    candidate: Candidate,
    expected: float,
    limit: float,
    report: Callable[[EpochProgress], None] | None = None,
    beside: int = 1,
) -> Trained | Status:
    """Train to the end, or say why not.

    Args:
        expected: seconds. After its first epochs, a candidate that is likely to take longer is given up.
        limit: seconds after which it ends, however far it is.
        beside: candidates that share the memory of this machine.
    """
    started = time.perf_counter()
    recipe = candidate.recipe
    try:
        data: Any = recipe.prepare(problem.data)
        model = recipe.build(data)
        assert isinstance(model, NodeClassifier)
        way = None
        if model.trained_by == "gradient":
            way = choose_way(recipe, model, data, asked=NEVER if problem.bases is None else AUTO)
            if not way.fits:
                return Status(LEFT_OUT, str(way.reason))
        on_disk = way is not None and way.bases
        if on_disk:
            source: Any = bases_of(problem, recipe, data)
            recipe = recipe_on_bases(recipe, problem.splits(candidate.repeat)[0].train.numel())
            runs = _runs(problem, recipe, candidate.repeat, source)
            results = _fit_in_turn(problem, runs, source, expected, limit - (time.perf_counter() - started), report)
            for result in results:
                result.model.preparation = data.get("preparation")
        else:
            source, runs = data, _runs(problem, recipe, candidate.repeat, data)
            _check_memory(model, data, beside)
            cores = torch.get_num_threads()
            # Stacks share the cores: those that wait for one take as long as those before them.
            watch = _watching(
                runs[0], lambda now: math.ceil(math.ceil(len(runs) / now.runs) / cores), _MEASURED, expected, report
            )
            pruner = None if math.isinf(limit) else Halving(seconds=max(limit - (time.perf_counter() - started), 0.0))
            # Folds have a core each: the threads of a linear solver inside of one would only wait for those of the others.
            with threadpool_limits(limits=1, user_api="blas"):
                results = fit_many(runs, data, test=False, progress=watch, pruner=pruner)
    except _TooSlow as slow:
        return Status(NOT_FINISHED, f"would take about {slow.need:.0f} s", slow.need)
    except InputError as error:
        return Status(FAILED, str(error))
    if any(result.pruned for result in results):
        return Status(NOT_FINISHED, f"cut off after {limit:.0f} s", limit)
    answers = _answers(problem, candidate, [result.model for result in results], source)
    if not bool(torch.isfinite(answers.out_of_fold).all()):
        return Status(FAILED, "it diverged")
    scores = problem.fold_scores(answers.out_of_fold)
    epochs = [result.epochs for result in results]
    outcome = Outcome(candidate, scores, epochs, time.perf_counter() - started, Path(), on_disk)
    return outcome, answers, [result.model for result in results]


def _fit_in_turn(
    problem: Problem, runs: list[Run], bases: Any, expected: float, limit: float, report: Callable[[EpochProgress], None] | None
) -> list[Result]:
    """Folds one after the other, since each reads other rows; the first one tells how long all of them take."""
    end, results = time.perf_counter() + limit, list[Result]()
    watch: Callable[[EpochProgress], None] | None = _watching(runs[0], lambda _: len(runs), _MEASURED_ON_BASES, expected, report)
    for run in runs:
        pruner = None if math.isinf(limit) else Halving(seconds=max(end - time.perf_counter(), 0.0))
        found = fit_many([run], bases, batches=ROWS, test=False, progress=watch, pruner=pruner, metric=problem.metric)
        results += found
        if found[0].pruned:
            break
        watch = report
    return results


def _runs(problem: Problem, recipe: Recipe, repeat: int, data: Any) -> list[Run]:
    if problem.class_weight != "none":
        recipe = replace(recipe, settings={**recipe.settings, "class_weight": problem.class_weight})
    # The fold that scores is no part of the split: what is trained cannot look at it.
    splits = [replace(split, test=split.test[:0]) for split in problem.splits(repeat)]
    first = problem.seed + repeat * problem.folds
    return recipe.runs(data, [(split, first + number) for number, split in enumerate(splits)])


def _check_memory(model: nn.Module, data: Any, beside: int) -> None:
    """As many stacks are trained at a time as torch has threads, in each of the processes."""
    numbers = sum(p.numel() for p in model.parameters())
    widest = max((p.shape[-1] for p in model.parameters() if p.dim() > 1), default=1)
    if isinstance(model, Estimator):  # in float64: what it sees of a node, and what scikit-learn makes of that
        inputs = getattr(model, "inputs", None)
        widest = 2 * (1 if inputs is None else inputs.width)
    need = 4 * beside * torch.get_num_threads() * (_COPIES * numbers + _ROWS * data.num_nodes * widest)
    if need > free_bytes():
        raise InputError("auto", "memory", f"about {show_bytes(need)}", got=f"{show_bytes(free_bytes())} that are free")


def _watching(
    run: Run,
    turns: Callable[[EpochProgress], int],
    measured: Sequence[int],
    expected: float,
    report: Callable[[EpochProgress], None] | None,
) -> Callable[[EpochProgress], None]:
    """``turns``: how often what is measured, from now on, is done until all runs are trained."""
    began, ahead = time.perf_counter(), list(measured)

    def watch(now: EpochProgress) -> None:
        if ahead and now.epoch >= ahead[0] and not math.isinf(expected):  # by the stack that is the first to get there
            ahead.pop(0)
            usual = min(now.epochs, int(_USUAL * run.settings.patience))
            need = turns(now) * (time.perf_counter() - began) / now.epoch * max(usual, now.epoch)
            if need > expected and now.epoch < usual:
                raise _TooSlow(need)
        if report is not None:
            report(now)

    return watch


def _answers(problem: Problem, candidate: Candidate, models: list[nn.Module], data: Any) -> Answers:
    out_of_fold = torch.zeros(problem.data.num_nodes, problem.classes)
    everywhere = torch.zeros(problem.data.num_nodes, problem.classes, dtype=torch.float64)
    for model, split in zip(models, problem.splits(candidate.repeat), strict=True):
        assert isinstance(model, NodeClassifier | OnBases)
        probabilities = model.predict(data).probabilities
        out_of_fold[split.test] = probabilities[split.test].float()
        everywhere += probabilities.double() / len(models)
    return Answers(out_of_fold[problem.pool], everywhere)
