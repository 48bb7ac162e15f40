"""All runs of a stack side by side in this process."""

from collections.abc import Sequence

import torch
from torch import Tensor

from chebnet2d.kernels.random_streams import set_stream, stream_numbers
from chebnet2d.training.batches import Batch
from chebnet2d.training.learners.stack import Stack, shard_streams
from chebnet2d.training.loop import Task
from chebnet2d.training.loss import check_logits, logits_of
from chebnet2d.training.metrics import Meter, find_metric
from chebnet2d.training.metrics.metric import metrics_for
from chebnet2d.training.run import Run


class StackLearner:
    """``shards``: parts of a batch; each has a random stream of its own in every run."""

    def __init__(self, runs: Sequence[Run], shards: int = 1) -> None:
        streams = [shard_streams(run.seed, shards) for run in runs]
        self.streams = [[streams[r][s] for r in range(len(runs))] for s in range(shards)]
        self._checked = False
        self.stack = Stack([run.model for run in runs], [run.settings for run in runs], self.streams[0])

    def step(self, task: Task, rows: int, shards: Sequence[Batch]) -> list[float]:
        total: Tensor | None = None
        penalties: list[Tensor] = []
        for streams, batch in zip(self.streams, shards, strict=True):
            self.stack.streams = streams
            logits, penalty = self.stack.forward(batch.inputs, training=True)
            if batch.weights is None or not self._checked:  # the labels of a full graph are the same in every epoch
                check_logits(task.owner, logits, batch.y)
                self._checked = True
            losses = batch.losses(logits, rows)
            total = losses if total is None else total + losses
            if penalty is not None:
                penalties.append(penalty / len(shards))
        assert total is not None
        self.stack.step(sum(penalties, total.sum()))
        values: list[float] = total.detach().tolist()
        return values

    def step_on_validation(self, task: Task) -> None:
        if self.stack.on_validation:
            for batch in task.validation_batches():
                logits, _ = self.stack.forward(batch.inputs, training=True)
                rows = int((batch.y >= 0).sum())
                self.stack.step(batch.losses(logits, rows).sum(), on_validation=True)

    def evaluate(self, task: Task) -> tuple[list[float], list[float]]:
        self.stack.streams = self.streams[0]
        meter = Meter([find_metric(task.metric)])
        with torch.no_grad():
            for batch in task.validation_batches():
                meter.add(self.stack.forward(batch.inputs, training=False)[0], batch)
        return meter.losses(), meter.scores()[task.metric]

    def snapshot(self, position: int) -> dict[str, Tensor]:
        return self.stack.snapshot(position)

    def state(self) -> tuple[dict[str, Tensor], list[list[int]]]:
        """See ``checkpoint.ResumableLearner``."""
        return self.stack.state(), [stream_numbers(streams[0]) for streams in self.streams]

    def restore(self, tensors: dict[str, Tensor], streams: Sequence[Sequence[int]]) -> None:
        self.stack.restore(tensors)
        for ours, numbers in zip(self.streams, streams, strict=True):
            set_stream(ours[0], numbers)

    def keep(self, positions: Sequence[int]) -> None:
        self.stack.streams = self.streams[0]
        self.stack.keep(positions)
        self.streams = [[streams[r] for r in positions] for streams in self.streams]

    def finish(self, task: Task, run: Run, state: dict[str, Tensor], test: bool) -> dict[str, float]:
        run.model.load_state_dict(state, strict=False)
        run.model.eval()
        meter: Meter | None = None
        with torch.no_grad():
            for batch in task.test_batches(run) if test else ():
                logits = logits_of(run.model(*batch.inputs)).unsqueeze(0)
                meter = meter or Meter(metrics_for(logits.shape[-1]))
                meter.add(logits, batch)
        return {} if meter is None else {name: values[0] for name, values in meter.scores().items()}
