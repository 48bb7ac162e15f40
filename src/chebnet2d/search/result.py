"""What a search has found: trials, the best recipe, and where it comes from."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from chebnet2d._version import __version__
from chebnet2d.recipes import SEARCHED, Recipe
from chebnet2d.training import Result, Settings


@dataclass(frozen=True)
class Trial:
    """One setting, tried on every split. ``val_metric`` and ``val_loss`` are means over the splits, at each run's best epoch.

    ``pruned``: it left before it was done, at a rung or because the time was up; the numbers are those it had reached.
    ``scores``, ``best_epochs`` and ``epochs`` have one number per split; ``seconds`` are those of all its runs together.
    """

    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    val_metric: float
    val_loss: float
    scores: Sequence[float]
    best_epochs: Sequence[int]
    epochs: Sequence[int]
    seconds: float
    pruned: bool

    @classmethod
    def of_results(cls, recipe: Recipe, results: Sequence[Result]) -> "Trial":
        """From the runs of a recipe, one per split."""
        scores = [result.val_metric for result in results]
        loss = statistics.fmean(result.val_loss for result in results)
        return cls(
            model=recipe.arguments,
            settings=dict(recipe.settings),
            val_metric=statistics.fmean(scores),
            val_loss=loss if math.isfinite(loss) else 1e30,  # a loss that is not a number must not win a tie
            scores=scores,
            best_epochs=[result.best_epoch for result in results],
            epochs=[result.epochs for result in results],
            seconds=math.fsum(result.seconds for result in results),
            pruned=any(result.pruned for result in results),
        )


@dataclass(frozen=True)
class SearchResult:
    """``recipe`` has the best settings: those of the best trial, or the baseline's if no trial was better.

    What was trained to its end is compared with nothing that was not: trials that left early stand back behind those that did
    not, and a baseline that was cut off because the time was up (``baseline.pruned``) is not beaten by anything.
    ``trials`` are in the order in which they ended, those of earlier calls with the same storage included.
    ``stopped``: why the search ended: "budget", "every point was tried" or "interrupted".
    """

    recipe: Recipe
    best: Trial | None
    baseline: Trial | None
    trials: tuple[Trial, ...]
    metric: str
    facts: Mapping[str, Any]
    seconds: float
    stopped: str

    @property
    def val_metric(self) -> float:
        """The score of the recipe. It is the best of many, so it is higher than what the settings are worth: see the test."""
        return _chosen(self.best, self.baseline).val_metric

    def notes(self) -> dict[str, Any]:
        """Comments for the preset file: what the settings were chosen by."""
        names = ("sampler", "budget", "batch", "rungs", "seed", "split", "splits")
        return {
            "written by": f"chebnet2d {__version__} search",
            **{name: self.facts[name] for name in names},
            "trials": f"{len(self.trials)}, {sum(trial.pruned for trial in self.trials)} of them pruned",
            f"validation {self.metric}": f"{self.val_metric:.4f}, mean over the splits, the best of all trials",
        }

    def to_json(self) -> dict[str, Any]:
        """``preset`` is the name that recipes have in files and commands."""
        found = {"preset": self.recipe.to_json(), "metric": self.metric, "val_metric": self.val_metric}
        for name, trial in (("best", self.best), ("baseline", self.baseline)):
            found[name] = None if trial is None else asdict(trial)
        counts = {"trials": len(self.trials), "pruned": sum(trial.pruned for trial in self.trials)}
        return {**found, **counts, "seconds": round(self.seconds, 3), "stopped": self.stopped, "search": dict(self.facts)}


def best_trial(trials: Sequence[Trial]) -> Trial | None:
    """Of those that were trained to their end, if there are such. Ties go to the lower loss, then to the earlier trial."""
    whole = [trial for trial in trials if not trial.pruned]
    return max(whole or trials, key=lambda trial: (trial.val_metric, -trial.val_loss), default=None)


def best_recipe(
    base: Recipe, best: Trial | None, baseline: Trial | None, training: Mapping[str, Any], metric: str, how: str
) -> Recipe:
    """The baseline's recipe or that of the best trial. ``training``: settings that all trials shared. ``how``: for the origin."""
    unusual = {name: value for name, value in training.items() if value != getattr(Settings, name)}
    chosen = _chosen(best, baseline)
    cut = f", cut off after {max(chosen.epochs)} epochs" if chosen.pruned else ""
    reached = f"mean validation {metric} {chosen.val_metric:.4f}{cut}"
    if chosen is baseline:
        compared = best is None or not (best.pruned or baseline.pruned)
        finding = "found nothing better" if compared else "compared nothing with it, for want of time"
        origin = f"{base.origin}; a search {finding} ({how}; {reached})"
        return replace(base, origin=origin, settings={**base.settings, **unusual})
    before = "" if baseline is None else f", {baseline.val_metric:.4f} before"
    origin = f"{SEARCHED}: {how}; {reached}{before}"
    return replace(base, origin=origin, model=chosen.model, settings={**chosen.settings, **unusual})


def _chosen(best: Trial | None, baseline: Trial | None) -> Trial:
    """Ties go to the baseline whatever the losses: the first point is often the baseline's, and rounds otherwise in its stack."""
    if best is None or (baseline is not None and (baseline.pruned or best.pruned or best.val_metric <= baseline.val_metric)):
        assert baseline is not None
        return baseline
    return best
