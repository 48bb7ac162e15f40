"""A graph and no method named: a few that fail in different ways are trained on one split, and validation nodes choose."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chebnet2d.auto.portfolio import Entry, make_portfolio
from chebnet2d.models import NodeClassifier
from chebnet2d.recipes import Recipe
from chebnet2d.recipes.ways import LONG, whole_graph_cost
from chebnet2d.training import EpochProgress, Interrupted, Result, Settings, fit_many
from chebnet2d.training.report import Report

FEATURES_ALONE = "mlp"
FEW: Sequence[str] = ("chebnet2d", FEATURES_ALONE, "boosting:labels", "chebnetii", "tuned-sage:deep")
"""Entries of the portfolio, in the order in which they are trained. The first is always among them, and wins a tie.

One does not see the graph: where neighbours mislead, as on Actor, every method that listens to them is behind it.
"""


@dataclass(frozen=True)
class Chosen:
    """``scores``: the best validation score of each entry that was trained to the end. ``left_out``: those that would take long.

    ``stopped``: Ctrl-C, after which the best of those that were done is taken.
    """

    entry: str
    recipe: Recipe
    result: Result
    scores: Mapping[str, float]
    left_out: Sequence[str] = ()
    stopped: KeyboardInterrupt | None = None

    def __str__(self) -> str:
        scores = ", ".join(f"{name} {score:.4f}" for name, score in self.scores.items())
        dear = f"; not tried, for the graph is large: {', '.join(self.left_out)}" if self.left_out else ""
        alone = "; the graph adds nothing to the features here" if self.entry == FEATURES_ALONE else ""
        return f"method: {self.entry}, by validation {self.result.metric} ({scores}){alone}{dear}"


def best_of_few(
    data: Any,
    split: Any,
    seed: int = 0,
    *,
    metric: str | None = None,
    device: str | None = None,
    settings: Mapping[str, Any] | None = None,
    memory: float = math.inf,
    progress: Callable[[EpochProgress], None] | None = None,
) -> Chosen:
    """The best of ``FEW`` by the validation nodes of a split; test nodes are looked at once. All predict other graphs too.

    Args:
        data: prepared.
        settings: of the training, in the place of those of all entries.
        memory: bytes beyond those that the process holds. Entries but the first are left out where, by the sizes of the graph,
            they take more, or long: what is chosen does not depend on a clock.
        progress: called after every epoch.
    """
    entries, left_out = _affordable(make_portfolio(data, FEW, inductive=True), data, memory)
    results: dict[str, Result] = {}
    stopped: KeyboardInterrupt | None = None
    for entry in entries:
        runs = _changed(entry.recipe, settings or {}).runs(data, [(split, seed)])
        try:
            results[entry.name] = fit_many(runs, data, test=False, metric=metric, device=device, progress=progress)[0]
        except KeyboardInterrupt as caught:
            if not results and not isinstance(caught, Interrupted):
                raise
            if isinstance(caught, Interrupted) and not results:  # what is cut off is not compared with what is not
                results[entry.name] = caught.result
            stopped = caught
            break
    scores = {name: result.val_metric for name, result in results.items()}
    best = max(scores, key=lambda name: -math.inf if math.isnan(scores[name]) else scores[name])
    recipe = next(_changed(entry.recipe, settings or {}) for entry in entries if entry.name == best)
    result = results[best] if stopped is not None else _tested(results[best], data)
    return Chosen(best, recipe, result, scores, left_out, stopped)


def _affordable(entries: Sequence[Entry], data: Any, memory: float) -> tuple[list[Entry], list[str]]:
    stays, dear = [], []
    for entry in entries:
        model = entry.recipe.build(data)
        assert isinstance(model, NodeClassifier)
        cost = whole_graph_cost(model, data)
        if entry.name == FEW[0] or (cost.seconds < LONG and cost.bytes <= memory):
            stays.append(entry)
        else:
            dear.append(entry.name)
    return stays, dear


def _changed(recipe: Recipe, settings: Mapping[str, Any]) -> Recipe:
    changed = replace(recipe, settings={**recipe.settings, **settings})
    Settings.of(**changed.settings)
    return changed


def _tested(result: Result, data: Any) -> Result:
    test = result.split.test
    if test.numel() == 0:
        return result
    assert isinstance(result.model, NodeClassifier)
    answers = result.model.predict(data)
    labels, probabilities = answers.labels.cpu()[test], answers.probabilities.cpu()[test]
    return replace(result, test=Report.of(labels, probabilities, data.y.cpu()[test]).scores)
