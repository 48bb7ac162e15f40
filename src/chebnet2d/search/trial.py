"""What one setting reached on the validation nodes."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chebnet2d.recipes import Recipe
from chebnet2d.training import Result

_WORST_LOSS = 1e30  # stands for a loss that is not a number, which must not win a tie


@dataclass(frozen=True)
class Trial:
    """One setting, tried on every split. ``val_metric`` and ``val_loss`` are means over the splits, at the best epoch of each run.

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
        loss = statistics.fmean(result.val_loss for result in results)
        return cls(
            model=recipe.arguments,
            settings=dict(recipe.settings),
            val_metric=statistics.fmean(result.val_metric for result in results),
            val_loss=loss if math.isfinite(loss) else _WORST_LOSS,
            scores=[result.val_metric for result in results],
            best_epochs=[result.best_epoch for result in results],
            epochs=[result.epochs for result in results],
            seconds=math.fsum(result.seconds for result in results),
            pruned=any(result.pruned for result in results),
        )


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """The best by validation metric; ties go to the lower loss, then to the earlier one.

    A trial that was pruned counts with what it had reached: the metric of the best epoch so far only grows with training.
    """
    return max(trials, key=lambda trial: (trial.val_metric, -trial.val_loss), default=None)
