"""What is left of a budget: wall time since the start of the command, reading and saving included, or a number of candidates."""

import math
import time

from chebnet2d.search import Budget

SAVING = 0.1  # of the time, kept for the end
TUNING = 0.7  # of the training, for settings; the rest goes to other seeds and folds of the best


class Clock:
    """``started``: by ``time.perf_counter``. ``spent``: seconds of earlier calls that were interrupted."""

    def __init__(self, budget: Budget | str | int, started: float | None = None) -> None:
        self.budget = Budget.of(budget)
        self._started = time.perf_counter() if started is None else started
        self.spent = 0.0

    @property
    def seconds(self) -> float:
        return self.spent + time.perf_counter() - self._started

    @property
    def for_training(self) -> float:
        """Seconds, in all; reading is among them."""
        return math.inf if self.budget.seconds is None else (1 - SAVING) * self.budget.seconds

    @property
    def left(self) -> float:
        """Seconds for training that are not spent yet."""
        return self.for_training - self.seconds

    def used(self, candidates: int) -> float:
        """The part of the budget for training that is spent, from 0 on. ``candidates``: how many are finished."""
        if self.budget.seconds is None:
            assert self.budget.trials is not None
            return candidates / self.budget.trials
        return self.seconds / self.for_training
