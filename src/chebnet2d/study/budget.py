"""How much a search may spend: wall time, or a number of trials."""

import math
import re
import time
from dataclasses import dataclass

from chebnet2d._checks import fail, integer

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Budget:
    """One of the two is given.

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
            raise fail("search", "budget", "a time like 90s, 10m or 2h, or a number of trials", value)
        return cls(seconds=seconds)

    def __str__(self) -> str:
        if self.seconds is None:
            return f"{self.trials} trials"
        hours, rest = divmod(self.seconds, 3600)
        minutes, seconds = divmod(rest, 60)
        shown = [f"{number:g}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if number]
        return "".join(shown)


class Spending:
    """What is left of a budget, and how many trials to ask for next. The clock starts when it is made."""

    def __init__(self, budget: Budget, batch: int) -> None:
        self.budget = budget
        self.batch = batch
        self.trials = 0
        self.cost: float | None = None
        """Seconds that a trial takes, as far as it is known."""
        self.writing = 0.0
        """Seconds that it takes to write down a batch."""
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    @property
    def left(self) -> float:
        """Seconds for training."""
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.seconds - self.writing

    def next_batch(self) -> int:
        """As many trials as are likely to end in time; none if even one has little chance to."""
        if self.budget.trials is not None:
            return min(self.batch, self.budget.trials - self.trials)
        if self.left <= 0:
            return 0
        if self.cost is None:
            return self.batch
        return min(self.batch, max(int(self.left / self.cost), int(self.left > self.cost / 2)))
