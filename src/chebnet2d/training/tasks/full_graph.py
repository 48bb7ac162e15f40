"""All nodes of a graph at once: one batch per epoch, in which every run counts its own nodes."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator
from chebnet2d.models import NodeClassifier, features_of
from chebnet2d.nn import Features
from chebnet2d.training.batches import Batch, Batches
from chebnet2d.training.loss import class_weights, node_weights
from chebnet2d.training.run import Run
from chebnet2d.training.tasks.source import Source, register_source

STACK_BYTES = 64 * 2**20
LARGE_PRODUCT = 2**25


@register_source
class FullGraphSource(Source):
    """A graph, checked."""

    def __init__(self, data: Any, batches: Batches | None, runs: Sequence[Run], device: torch.device) -> None:
        self.inputs = checked_inputs(data, runs, device)
        self.data = data
        self.y: Tensor = data.y.to(device)
        self.metric: str = data.get("metric") or "accuracy"
        # Multiplications of the features with the widest layer.
        x = self.inputs[0]
        entries = x.nnz if isinstance(x, SparseOperator) else x.shape[0] * x.shape[1]
        self.large = entries * _widest(runs[0].model) > LARGE_PRODUCT

    @staticmethod
    def accepts(data: Any, batches: Batches | None) -> bool:
        return batches is None

    def width(self, run: Run, asked: int | None) -> int:
        return stack_width(run.model, self.data) if asked is None else asked

    def task(self, runs: Sequence[Run]) -> "FullGraphTask":
        return FullGraphTask(self, runs)


class FullGraphTask:
    owner = "fit"
    evaluate_every = 1
    train_rows = 1  # the weights of a run's nodes add up to 1

    def __init__(self, source: FullGraphSource, runs: Sequence[Run]) -> None:
        self.inputs, self.y, self.metric = source.inputs, source.y, source.metric
        self.runs = runs
        like = next(runs[0].model.parameters(), torch.zeros(0, dtype=torch.float64, device=self.y.device))
        self.train = node_weights([run.split.train for run in runs], self.y.numel(), like)
        weights = weights_of_classes(runs, self.y, like)
        if weights is not None:
            self.train = self.train * weights[:, self.y.clamp(min=0)]
        self.val = node_weights([run.split.val for run in runs], self.y.numel(), like)
        for run in runs:
            if isinstance(run.model, NodeClassifier):
                run.model.take_labels(labels_of(self.y, run.split.train))

    def training_batches(self, epoch: int) -> Iterator[tuple[int, list[Batch]]]:
        yield 1, [Batch(self.inputs, self.y, self.train)]

    def validation_batches(self, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        yield Batch(self.inputs, self.y, self.val)

    def test_batches(self, run: Run, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        if run.split.test.numel():
            yield Batch(self.inputs, labels_of(self.y, run.split.test))

    def keep(self, positions: Sequence[int]) -> None:
        self.train, self.val = self.train[positions], self.val[positions]


def weights_of_classes(runs: Sequence[Run], y: Tensor, like: Tensor) -> Tensor | None:
    """R x C weights by the training nodes of each run, in the type of ``like``; None where no run asks for some."""
    if all(run.settings.class_weight == "none" for run in runs):
        return None
    classes = int(y.max()) + 1
    rows = [
        class_weights(y[run.split.train], classes) if run.settings.class_weight == "balanced" else y.new_ones(classes).double()
        for run in runs
    ]
    return torch.stack(rows).to(dtype=like.dtype, device=like.device)


def labels_of(y: Tensor, nodes: Tensor) -> Tensor:
    """Labels of these nodes, -1 for all others."""
    labels = torch.full_like(y, -1)
    labels[nodes] = y[nodes]
    return labels


def stack_width(model: nn.Module, data: Any) -> int:
    """How many runs share a stack: as many as keep the working set within a budget of cache, from 1 to 32.

    A function of shapes alone, never of the machine: rounding depends on who shares a stack.
    """
    parameters = sum(p.numel() for p in model.parameters())
    floats = 4 * parameters + 4 * data.num_nodes * _widest(model)
    return max(1, min(32, int(STACK_BYTES / (4 * floats))))


def _widest(model: nn.Module) -> int:
    return max((p.shape[-1] for p in model.parameters() if p.dim() > 1), default=1)


def checked_inputs(data: Any, runs: Sequence[Run], device: torch.device) -> tuple[Features, Any, Any]:
    """What the models are called with, after the checks whose failure would surface deep inside torch.

    Only the features are moved to the device: operators of the graph are made where these are.
    """
    model = runs[0].model
    try:
        inspect.signature(model.forward).bind(None, None, None)
    except TypeError:
        got = f"{type(model).__name__} whose forward does not"
        raise InputError("fit", "the model", "(x, edge_index, edge_weight)", got=got, verb="take") from None
    dtype = next((p.dtype for p in model.parameters()), torch.float32)
    x = features_of(data)
    values = x.values if isinstance(x, SparseOperator) else x
    if not isinstance(values, Tensor) or not bool(torch.isfinite(values).all()):
        raise InputError("fit", "data.x", "finite", got="NaN or infinite values", hint="Fill or drop them first.")
    y = getattr(data, "y", None)
    num_nodes = x.shape[0]
    if not isinstance(y, Tensor) or y.shape != (num_nodes,) or y.is_floating_point():
        raise InputError("fit", "data.y", f"{num_nodes} integer class labels (-1 = unlabelled)", y)
    for run in runs:
        for name in ("train", "val", "test"):
            _check_part(f"split.{name}", getattr(run.split, name, None), y, empty=name == "test")
    return x.to(dtype=dtype, device=device), data.edge_index, data.get("edge_weight")


def _check_part(name: str, part: Any, y: Tensor, *, empty: bool) -> None:
    if not isinstance(part, Tensor) or part.dim() != 1 or part.is_floating_point() or part.dtype == torch.bool:
        raise InputError("fit", name, "a vector of node indices", part)
    if part.numel() and (int(part.min()) < 0 or int(part.max()) >= y.numel()):
        raise InputError("fit", name, f"nodes below {y.numel()}", got=str(int(part.max())), verb="hold")
    if bool((y[part] < 0).any()):
        raise InputError("fit", name, "labelled nodes only", got="one with label -1", verb="hold")
    if part.numel() == 0 and not empty:
        hint = "Too few nodes have labels for this split?"
        raise InputError("fit", name, "empty", got="0 nodes", hint=hint, verb="not be")
