"""One run in several processes: DistributedDataParallel under ``torchrun``.

Every process sees the bases (one disk, or a shared one), works on its shards of each batch, and holds the whole model. The
gradients are averaged by DistributedDataParallel; the numbers that decide (losses, metrics) are added up, so that all processes
take the same decisions.
"""

import inspect
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from chebnet2d.kernels.random_streams import random_streams, set_stream, stream_numbers
from chebnet2d.training.batches import Batch
from chebnet2d.training.learners.stack import shard_streams
from chebnet2d.training.loop import Task
from chebnet2d.training.loss import check_logits, logits_of
from chebnet2d.training.metrics import Meter, Metric, find_metric
from chebnet2d.training.metrics.metric import metrics_for
from chebnet2d.training.run import Run


class DistributedLearner:
    """One run, whose batches are shared out. ``mine``: the shards that this process works on."""

    def __init__(self, run: Run, shards: int, mine: Sequence[int]) -> None:
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.model, self.shards = run.model, shards
        self.classes = 0
        every = shard_streams(run.seed, shards)
        self.mine = list(mine)
        self.streams = [every[s] for s in mine]
        # Processes may have different numbers of shards: nothing but the last backward pass of a batch may wait for the others.
        named = inspect.signature(DistributedDataParallel).parameters
        alone: dict[str, Any] = {"forward_sync_buffers" if "forward_sync_buffers" in named else "broadcast_buffers": False}
        self.parallel = DistributedDataParallel(run.model, **alone)
        group_of = getattr(run.model, "group_of", lambda _: "weights")
        groups: dict[str, list[nn.Parameter]] = {}
        for name, parameter in run.model.named_parameters():
            groups.setdefault(group_of(name), []).append(parameter)
        numbers = {name: run.settings.group(name) for name in groups}
        parameters = [
            {"params": members, "lr": numbers[name].lr, "weight_decay": numbers[name].weight_decay}
            for name, members in groups.items()
        ]
        kind = torch.optim.AdamW if run.settings.optimizer == "adamw" else torch.optim.Adam
        self.optimizer: torch.optim.Optimizer = kind(parameters, fused=True)

    def step(self, task: Task, rows: int, shards: Sequence[Batch]) -> list[float]:
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        mean = torch.zeros((), dtype=torch.float64)
        for number, (stream, batch) in enumerate(zip(self.streams, shards, strict=True)):
            last = number == len(shards) - 1
            with random_streams([stream]), nullcontext() if last else self.parallel.no_sync():
                answer = self.parallel(*batch.inputs)
                logits = logits_of(answer).unsqueeze(0)
                check_logits(task.owner, logits, batch.y)
                self.classes = logits.shape[-1]
                loss = batch.losses(logits, rows).sum()
                mean += loss.detach().double().cpu()
                penalty = answer[1] / self.shards if isinstance(answer, tuple) else 0.0
                ((loss + penalty) * self.world).backward()  # the gradients are averaged, and wanted is their sum
        self.optimizer.step()
        return [float(self._sum(mean))]

    def step_on_validation(self, task: Task) -> None:
        """Models on bases have no parameters of that kind."""

    def evaluate(self, task: Task) -> tuple[list[float], list[float]]:
        meter = self._measured([find_metric(task.metric)], task.validation_batches(self.rank, self.world))
        return meter.losses(), meter.scores()[task.metric]

    def snapshot(self, position: int) -> dict[str, Tensor]:
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def state(self) -> tuple[dict[str, Tensor], list[list[int]]]:
        """See ``checkpoint.ResumableLearner``. The same numbers in the same order as those of one process with as many shards."""
        kept = self.snapshot(0)
        for name, parameter in self.model.named_parameters():
            known = self.optimizer.state.get(parameter) or {}  # nothing before the first gradient
            zeros = torch.zeros_like(parameter)
            kept[f"mean/{name}"] = known.get("exp_avg", zeros).clone()
            kept[f"square/{name}"] = known.get("exp_avg_sq", zeros).clone()
            kept[f"step/{name}"] = torch.as_tensor(known.get("step", 0.0), dtype=torch.float32).cpu().clone()
        streams = dict(zip(self.mine, map(stream_numbers, self.streams), strict=True))
        every = {shard: numbers for part in self._gather(streams) for shard, numbers in part.items()}
        return kept, [every[shard] for shard in range(self.shards)]

    def restore(self, tensors: dict[str, Tensor], streams: Sequence[Sequence[int]]) -> None:
        with torch.no_grad():
            for name, value in self.model.state_dict(keep_vars=True).items():
                value.copy_(tensors[name])
        for name, parameter in self.model.named_parameters():
            if tensors[f"step/{name}"] > 0:
                moments = {"exp_avg": f"mean/{name}", "exp_avg_sq": f"square/{name}"}
                known = {kind: tensors[key].to(parameter.device).clone() for kind, key in moments.items()}
                self.optimizer.state[parameter] = {"step": tensors[f"step/{name}"].to(parameter.device).clone(), **known}
        for stream, shard in zip(self.streams, self.mine, strict=True):
            set_stream(stream, streams[shard])

    def keep(self, positions: Sequence[int]) -> None:
        """There is one run: it stays until the end."""

    def finish(self, task: Task, run: Run, state: dict[str, Tensor], test: bool) -> dict[str, float]:
        run.model.load_state_dict(state)
        run.model.eval()
        if not test or run.split.test.numel() == 0:
            return {}
        meter = self._measured(metrics_for(self.classes), task.test_batches(run, self.rank, self.world))
        return {name: values[0] for name, values in meter.scores().items()}

    def _measured(self, metrics: Sequence[Metric], batches: Iterable[Batch]) -> Meter:
        """A meter over all rows: each process looks at its part, and the sums are added."""
        self.model.eval()
        meter = Meter(metrics)
        with torch.no_grad():
            for batch in batches:
                meter.add(logits_of(self.model(*batch.inputs)).unsqueeze(0), batch)
        meter.merge(self._sum, self._gather)
        return meter

    def _gather(self, value: Any) -> list[Any]:
        everyone: list[Any] = [None] * self.world
        dist.all_gather_object(everyone, value)
        return everyone

    def _sum(self, value: Tensor) -> Tensor:
        device = next(self.model.parameters()).device
        moved = value.to(device)
        dist.all_reduce(moved)
        return moved.cpu()
