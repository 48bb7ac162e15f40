"""How much a search may spend: wall time, or a number of trials."""

import math
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from chebnet2d._checks import InputError, integer
from chebnet2d.search.result import Trial

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_GROUP = 16


@dataclass(frozen=True)
class Budget:
    """Seconds or trials: one of the two is given.

    >>> Budget.of("1h30m").seconds
    5400.0
    >>> Budget.of("200").trials
    200
    """

    seconds: float | None = None
    trials: int | None = None

    @classmethod
    def of(cls, value: "Budget | str | int") -> "Budget":
        """From "90s", "10m", "2h", "1h30m", or a number of trials."""
        if isinstance(value, Budget):
            return value
        if isinstance(value, int):
            return cls(trials=integer("search", "budget", value, 1))
        text = value.strip().lower() if isinstance(value, str) else ""
        if text.isdecimal() and int(text) >= 1:
            return cls(trials=int(text))
        parts = re.findall(r"(\d+(?:\.\d+)?)([smh])", text)
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
        if "".join(number + unit for number, unit in parts) != text or seconds <= 0:
            raise InputError("search", "budget", "a time like 90s, 10m or 2h, or a number of trials", value)
        return cls(seconds=seconds)

    def __str__(self) -> str:
        if self.seconds is None:
            return f"{self.trials} trials"
        hours, rest = divmod(self.seconds, 3600)
        minutes, seconds = divmod(rest, 60)
        return "".join(f"{number:g}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if number)


class Spending:
    """What is left of a budget, and how many trials to ask for next. The clock starts when it is made.

    ``group_size``: trials that are trained side by side, at most; default: 16, and of a small number of trials a quarter, so that
    the sampler has learned something before it asks for the last. ``rungs``: epochs at which half of a group leaves.
    """

    def __init__(self, budget: Budget | str | int, group_size: int | None = None, rungs: Sequence[int] = ()) -> None:
        self.budget = Budget.of(budget)
        self.group_size = max(1, min(_GROUP, (self.budget.trials or 4 * _GROUP) // 4)) if group_size is None else group_size
        self.rungs, self.trials = rungs, 0
        self.writing = 0.0  # seconds that it takes to write down the trials of a group
        self._epoch: float | None = None  # seconds that an epoch of a trial takes, all its runs together
        self._full = 0.0  # epochs of a trial that is trained to the end
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    @property
    def left(self) -> float:
        """Seconds for training."""
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.seconds - self.writing

    def learn(self, trials: Sequence[Trial]) -> None:
        """From the latest trials. One that was cut off says how long an epoch takes, and that the end is not before it."""
        epochs = [statistics.fmean(trial.epochs) for trial in trials]
        whole = [number for number, trial in zip(epochs, trials, strict=True) if not trial.pruned]
        if epochs:
            self._epoch = math.fsum(trial.seconds for trial in trials) / math.fsum(epochs)
            self._full = statistics.fmean(whole) if whole else max(self._full, *epochs)

    def cost(self, trials: int) -> float:
        """Seconds that a group is likely to take."""
        epochs, staying, last = 0.0, trials, 0.0
        for rung in (*self.rungs, math.inf):
            until = min(rung, self._full)
            epochs += staying * max(until - last, 0.0)
            staying, last = staying - staying // 2, until
        return epochs * (self._epoch or 0.0)

    def next_group(self, in_training: int = 0) -> int:
        """How many trials: those that are likely to end in time; if none is, those that get beyond the first rung.

        ``in_training``: trials of other groups, which do not wait for this one, nor it for them.
        """
        if self.budget.trials is not None:
            return min(self.group_size, self.budget.trials - self.trials - in_training)
        if self.left <= 0:
            return 0
        if self._epoch is None:
            return self.group_size
        fitting = [trials for trials in range(1, self.group_size + 1) if self.cost(trials) <= self.left]
        if fitting:
            return fitting[-1]
        enough = 2 * min(self.rungs[0] if self.rungs else self._full, self._full / 4)
        return min(self.group_size, int(self.left / (enough * self._epoch)))
