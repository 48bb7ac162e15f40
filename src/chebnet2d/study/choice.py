"""Which trial is chosen: a pure function of the rows of trials. And who leaves at a rung."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.search import Halving
from chebnet2d.training import Standing


@dataclass(frozen=True)
class Choice:
    """``score`` and ``loss``: means over the runs of the trial, on validation nodes."""

    trial: int
    metric: str
    score: float
    loss: float


def choose(rows: Sequence[Mapping[str, Any]]) -> Choice:
    """The trial with the highest mean validation metric; ties go to the lower mean loss, then to the lower number.

    ``rows``: trials that compete: of one method and dataset and, in a nested search, of one split. A trial that left at a rung
    was trained for less than the others and is never chosen, whatever it had reached.
    """
    trials: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        trials.setdefault(row["trial"], []).append(row)
    finished = {trial: own for trial, own in trials.items() if not any(row["pruned"] for row in own)}
    if not finished:
        raise InputError("choose", "rows", "a trial that was trained to its end", got="none", verb="have")

    def judged(trial: int) -> Choice:
        own = finished[trial]
        return Choice(trial, own[0]["metric"], _mean(own, "val_metric", -math.inf), _mean(own, "val_loss", math.inf))

    return min(map(judged, finished), key=lambda one: (-one.score, one.loss, one.trial))


@dataclass(frozen=True)
class GroupedHalving:
    """For ``fit_together``: in each group of runs the worse half of the trials leaves at every rung, apart from other groups."""

    rungs: Sequence[int]
    trials: Sequence[int]
    groups: Sequence[int]
    seconds: float | None = None

    def leaving(self, standings: Sequence[Standing]) -> set[int]:
        """Positions of the runs that leave."""
        found: set[int] = set()
        for group in dict.fromkeys(self.groups):
            own = [position for position, number in enumerate(self.groups) if number == group]
            halving = Halving(self.rungs, [self.trials[position] for position in own])
            found |= {own[leaver] for leaver in halving.leaving([standings[position] for position in own])}
        return found


def _mean(rows: Sequence[Mapping[str, Any]], name: str, missing: float) -> float:
    """``missing``: for a run that diverged, which makes its trial the last."""
    values = [row[name] for row in rows]
    return missing if any(value is None for value in values) else statistics.fmean(values)
