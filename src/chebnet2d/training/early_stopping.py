"""The best epoch of a run so far, and whether it is time to stop."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from torch import Tensor

from chebnet2d.training.run import History, Result, Run


class EarlyStopping:
    """Judges by the validation nodes, and keeps the state of the best epoch."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.history = History()
        self.best_epoch = 0
        self.best_metric = -math.inf
        self.best_loss = math.inf
        self.best_state: dict[str, Tensor] = {}
        self.pruned = False
        self.seconds = 0.0

    def update(
        self, epoch: int, train_loss: float, val_loss: float, val_metric: float, snapshot: Callable[[], dict[str, Tensor]]
    ) -> None:
        """``snapshot`` gives the state of this epoch, and is called if it is the best so far."""
        self.history.train_loss.append(train_loss)
        self.history.val_loss.append(val_loss)
        self.history.val_metric.append(val_metric)
        if self.run.settings.monitor == "loss" or val_metric == self.best_metric:
            better = _lower(val_loss, self.best_loss)
        else:
            better = _lower(-val_metric, -self.best_metric)
        if better or self.best_epoch == 0:  # the first epoch counts even if its loss is not a number
            state = snapshot()  # first: Ctrl-C in the middle of it must not leave the numbers of one epoch beside another's state
            self.best_epoch, self.best_metric, self.best_loss, self.best_state = epoch, val_metric, val_loss, state

    def facts(self) -> dict[str, Any]:
        """All but the best state, for a file of JSON, which has no NaN: numbers are written in hexadecimal, to the last bit."""
        numbers = {"best_metric": self.best_metric, "best_loss": self.best_loss, "seconds": self.seconds}
        history = {name: [float(value).hex() for value in values] for name, values in asdict(self.history).items()}
        return {"best_epoch": self.best_epoch, "history": history, **{name: float(v).hex() for name, v in numbers.items()}}

    def restore(self, facts: Mapping[str, Any], best_state: dict[str, Tensor]) -> None:
        """Back to where ``facts`` was asked."""
        self.best_epoch, self.best_state = facts["best_epoch"], best_state
        self.best_metric, self.best_loss = float.fromhex(facts["best_metric"]), float.fromhex(facts["best_loss"])
        self.seconds = float.fromhex(facts["seconds"])
        self.history = History(**{name: [float.fromhex(v) for v in values] for name, values in facts["history"].items()})

    def done(self, epoch: int) -> bool:
        settings = self.run.settings
        return epoch >= settings.epochs or epoch - self.best_epoch >= settings.patience

    def result(self, metric: str, test: Mapping[str, float]) -> Result:
        run = self.run
        return Result(
            run.model,
            run.split,
            run.seed,
            run.settings,
            metric,
            best_epoch=self.best_epoch,
            epochs=len(self.history.train_loss),
            val_loss=self.best_loss,
            val_metric=self.best_metric,
            test=test,
            seconds=self.seconds,
            history=self.history,
            pruned=self.pruned,
        )


def _lower(value: float, best: float) -> bool:
    """Any number is lower than what is none: a first epoch that diverged is beaten by the next that did not."""
    return value < best or (math.isnan(best) and not math.isnan(value))
