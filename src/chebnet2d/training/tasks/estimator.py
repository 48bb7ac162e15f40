"""Methods that are fitted and not trained by gradient steps, in the same loop: a stage of the fit is an epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from chebnet2d.models import Estimator
from chebnet2d.training.batches import Batch
from chebnet2d.training.loop import Learner, Task
from chebnet2d.training.loss import check_logits, class_weights
from chebnet2d.training.metrics import Meter, find_metric
from chebnet2d.training.metrics.metric import metrics_for
from chebnet2d.training.run import Run
from chebnet2d.training.tasks.full_graph import FullGraphSource, FullGraphTask, labels_of
from chebnet2d.training.tasks.source import register_source


@register_source
class EstimatorSource(FullGraphSource):
    """A graph, whole. Each run is a stack of its own."""

    trains: ClassVar[str] = "estimator"

    def width(self, run: Run, asked: int | None) -> int:
        return 1

    def task(self, runs: Sequence[Run]) -> FullGraphTask:
        """With as many epochs at most as the method has stages."""
        most = getattr(runs[0].model, "max_stages", None)
        limited = [
            run if most is None else replace(run, settings=replace(run.settings, epochs=min(most, run.settings.epochs)))
            for run in runs
        ]
        return FullGraphTask(self, limited)

    def learner(self, runs: Sequence[Run]) -> Learner:
        return EstimatorLearner(runs[0])


class EstimatorLearner:
    """One run. Its state is the number of stages: what each has learned stays in the model until the end."""

    def __init__(self, run: Run) -> None:
        assert isinstance(run.model, Estimator)
        self.run, self.model = run, run.model
        self.fit: Iterator[Tensor] | None = None
        self.stages = 0
        self.logits = torch.zeros(0)

    def step(self, task: Task, rows: int, shards: Sequence[Batch]) -> list[float]:
        (batch,) = shards
        if self.fit is None:
            labels = labels_of(batch.y.cpu(), self.run.split.train.cpu())  # all that the fit may know
            x, edge_index, edge_weight = batch.inputs
            weights = {}
            if self.run.settings.class_weight == "balanced":
                weights = {"class_weights": class_weights(batch.y[self.run.split.train], int(batch.y.max()) + 1)}
            self.fit = self.model.stages(x, edge_index, edge_weight, labels, self.run.seed, **weights)
        self.logits = next(self.fit).unsqueeze(0)
        if not self.stages:
            check_logits(task.owner, self.logits, batch.y)
        self.stages += 1
        losses: list[float] = batch.losses(self.logits, rows).tolist()
        return losses

    def step_on_validation(self, task: Task) -> None:
        """There are no parameters of that kind."""

    def evaluate(self, task: Task) -> tuple[list[float], list[float]]:
        meter = Meter([find_metric(task.metric)])
        for batch in task.validation_batches():
            meter.add(self.logits, batch)
        return meter.losses(), meter.scores()[task.metric]

    def snapshot(self, position: int) -> dict[str, Tensor]:
        return {"stages": torch.tensor(self.stages)}

    def keep(self, positions: Sequence[int]) -> None:
        """There is one run: it stays until the end."""

    def finish(self, task: Task, run: Run, state: dict[str, Tensor], test: bool) -> dict[str, float]:
        self.fit = None  # and with it all that it held besides the model
        self.model.keep(int(state["stages"]))
        self.model.eval()
        meter: Meter | None = None
        for batch in task.test_batches(run) if test else ():
            logits = self.model(*batch.inputs).unsqueeze(0)
            meter = meter or Meter(metrics_for(logits.shape[-1]))
            meter.add(logits, batch)
        return {} if meter is None else {name: values[0] for name, values in meter.scores().items()}
