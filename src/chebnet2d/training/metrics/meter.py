"""Loss and metrics of a stack of runs over batches of nodes."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from chebnet2d.training.batches import Batch
from chebnet2d.training.loss import negative_log_likelihood
from chebnet2d.training.metrics.metric import GatheredMetric, Metric, SumMetric


class Meter:
    """Adds up what the metrics need, batch after batch; the numbers at the end are those of all nodes together."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self.metrics = metrics
        self._sums = [metric for metric in metrics if isinstance(metric, SumMetric)]
        self._gathers = any(isinstance(metric, GatheredMetric) for metric in metrics)
        self._weight = torch.zeros((), dtype=torch.float64)
        self._loss: Tensor | None = None
        self._totals: list[Tensor] = []
        self._gathered: list[tuple[Tensor, Tensor, Tensor | None]] = []

    def add(self, logits: Tensor, batch: Batch) -> None:
        """``logits``: R x B x C for the B nodes of the batch."""
        y, weights = batch.y, batch.weights
        if weights is None and bool((y < 0).any()):  # rows that do not count leave before the softmax: they are the most
            counts = (y >= 0).nonzero().squeeze(1)
            logits, y = logits.index_select(1, counts), y[counts]
        losses = negative_log_likelihood(logits, y)
        loss = (losses.double() if weights is None else losses * weights).sum(dim=1).double().cpu()
        totals = [metric.sums(logits, y, weights).double().cpu() for metric in self._sums]
        self._weight = self._weight + (y.numel() if weights is None else 1.0)  # weights of a run add up to 1
        self._loss = loss if self._loss is None else self._loss + loss
        self._totals = [a + b for a, b in zip(self._totals, totals, strict=True)] if self._totals else totals
        if self._gathers:
            self._gathered.append((logits.cpu(), y.cpu(), None if weights is None else weights.cpu()))

    def merge(self, add: Callable[[Tensor], Tensor], gather: Callable[[Any], list[Any]]) -> None:
        """Make the numbers those of all processes, of one run. ``add`` adds a tensor up, ``gather`` lists an object of each."""
        widths: list[int] = max(gather([total.shape[1] for total in self._totals]), key=len)
        empty = [torch.zeros(1, width, dtype=torch.float64) for width in (1, *widths)]  # of a process that had no nodes
        loss, *totals = empty if self._loss is None else [self._loss.unsqueeze(1), *self._totals]
        self._loss, self._totals = add(loss).squeeze(1), [add(total) for total in totals]
        self._weight = add(self._weight)
        if self._gathers:
            self._gathered = [part for parts in gather(self._gathered) for part in parts]

    def losses(self) -> list[float]:
        assert self._loss is not None
        values: list[float] = (self._loss / self._weight).tolist()
        return values

    def scores(self) -> dict[str, list[float]]:
        """Metric -> a value per run."""
        by_name: dict[str, list[float]] = {}
        totals = iter(self._totals)
        for metric in self.metrics:
            if isinstance(metric, SumMetric):
                by_name[metric.name] = metric.value(next(totals), self._weight).tolist()
            elif isinstance(metric, GatheredMetric):
                by_name[metric.name] = [metric.score(*self._of_run(run)) for run in range(self._gathered[0][0].shape[0])]
        return by_name

    def _of_run(self, run: int) -> tuple[Tensor, Tensor]:
        parts = [
            (logits[run], y) if weights is None else (logits[run][weights[run] > 0], y[weights[run] > 0])
            for logits, y, weights in self._gathered
        ]
        return torch.cat([logits for logits, _ in parts]), torch.cat([y for _, y in parts])
