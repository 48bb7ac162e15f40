"""Training on bases in several processes: DistributedDataParallel under ``torchrun``, on one machine or many.

    torchrun --nproc-per-node 2 -m chebnet2d train-bases DIR --method chebnet2d

Every process sees the bases (one disk, or a shared one), works on its shards of each batch, and holds the whole model. The
gradients are averaged by DistributedDataParallel; the numbers that decide (losses, metrics) are added up, so that all processes
take the same decisions.
"""

import inspect
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from chebnet2d._checks import InputError, integer
from chebnet2d.bases import Bases
from chebnet2d.kernels.random_streams import random_streams
from chebnet2d.training.batch_loop import BATCH, BatchTask, Meter, shard_streams, train
from chebnet2d.training.fit import Report, Result, Run, SplitLike, check_logits, initialise_parameters
from chebnet2d.training.metrics import negative_log_likelihood
from chebnet2d.training.minibatch import Task
from chebnet2d.training.settings import Settings


def under_torchrun() -> bool:
    """Whether this process is one of several that ``torchrun`` has started."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ


@contextmanager
def process_group(device: str | torch.device = "cpu") -> Iterator[None]:
    """Joined to the processes of ``torchrun``, by gloo, or by nccl on GPUs. Nothing to do if they are joined already."""
    if dist.is_initialized():
        yield
        return
    gpu = torch.device(device).type == "cuda"
    if gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if gpu else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def fit_distributed(
    model: nn.Module,
    bases: Bases,
    split: SplitLike,
    seed: int = 0,
    *,
    batch_size: int = BATCH,
    shards: int | None = None,
    labels: Tensor | None = None,
    memory: int | str | None = None,
    device: str | torch.device = "cpu",
    progress: Report | None = None,
    **settings: Any,
) -> Result:
    """``fit_on_bases`` by all processes of the group; the result is the same in each of them, up to rounding.

    ``batch_size`` is that of all processes together, and ``shards`` (default: one a process) are dealt out to them in turn. One
    process with the same number of shards gives the same result, dropout included. Only the first process reports progress.
    """
    if not dist.is_initialized():
        raise InputError("fit_distributed", "a process group", "there", got="none", hint="Start the program with torchrun.")
    rank, world = dist.get_rank(), dist.get_world_size()
    shards = world if shards is None else integer("fit_distributed", "shards", shards, world, batch_size)
    run = Run(model, split, seed, Settings.of(**settings))
    initialise_parameters(model, integer("fit_distributed", "seed", seed, 0))
    model.to(device)
    task = Task([run], bases, batch_size, labels, memory, device)
    mine = range(rank, shards, world)
    learner = DistributedLearner(run, shards, mine)
    return train(task, learner, shards=shards, mine=mine, progress=progress if rank == 0 else None)[0]


class DistributedLearner:
    """One run, whose batches are shared out."""

    def __init__(self, run: Run, shards: int, mine: Sequence[int]) -> None:
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.model = run.model
        every = shard_streams(run.seed, shards)
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

    def train_batch(self, rows: int, shards: list[tuple[Tensor, Tensor]]) -> list[float]:
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        mean = torch.zeros((), dtype=torch.float64)
        for number, (stream, (terms, y)) in enumerate(zip(self.streams, shards, strict=True)):
            last = number == len(shards) - 1
            with random_streams([stream]), nullcontext() if last else self.parallel.no_sync():
                logits = self.parallel(terms).unsqueeze(0)
                check_logits("fit_on_bases", logits, y)
                loss = negative_log_likelihood(logits, y).sum() / rows
                mean += loss.detach().double().cpu()
                (loss * self.world).backward()  # the gradients are averaged, and wanted is their sum
        self.optimizer.step()
        return [float(self._sum(mean))]

    def evaluate(self, task: BatchTask, positions: Tensor, metric: str) -> tuple[list[float], list[float]]:
        meter = self._measured(task, positions, metric)
        return meter.losses(), meter.scores()

    def snapshot(self, position: int) -> dict[str, Tensor]:
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def keep(self, positions: Sequence[int]) -> None:
        """There is one run: it stays until the end."""

    def finish(self, task: BatchTask, run: Run, state: dict[str, Tensor], test: bool) -> tuple[float | None, float | None]:
        run.model.load_state_dict(state)
        run.model.eval()
        if not test or task.test.numel() == 0:
            return None, None
        meter = self._measured(task, task.test, "accuracy", ranks=True)
        return meter.scores()[0], meter.roc_auc(0)

    def _measured(self, task: BatchTask, positions: Tensor, metric: str, *, ranks: bool = False) -> Meter:
        """A meter over all rows: each process looks at its part, and the sums are added."""
        self.model.eval()
        meter = Meter(metric, ranks=ranks)
        with torch.no_grad():
            for terms, y in task.streamed(positions.tensor_split(self.world)[self.rank]):
                meter.add(self.model(terms).unsqueeze(0), y)
        sums = torch.zeros(3, dtype=torch.float64)
        if meter.loss is not None and meter.right is not None:
            sums = torch.stack([meter.loss[0], meter.right[0], torch.tensor(float(meter.rows), dtype=torch.float64)])
        total = self._sum(sums)
        meter.loss, meter.right, meter.rows = total[:1], total[1:2], int(total[2])
        if meter.ranks:
            everyone: list[Any] = [None] * self.world
            dist.all_gather_object(everyone, (meter.margins, meter.labels))
            meter.margins = [margin for margins, _ in everyone for margin in margins]
            meter.labels = [label for _, labels in everyone for label in labels]
        return meter

    def _sum(self, value: Tensor) -> Tensor:
        device = next(self.model.parameters()).device
        moved = value.to(device)
        dist.all_reduce(moved)
        return moved.cpu()
