"""Batches: what a step is taken on, and how the user asks for them."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.training.loss import negative_log_likelihood

SAMPLINGS = ("rows", "induced", "induced-train", "neighbours")
EVALUATIONS = ("whole", "parts")


@dataclass(frozen=True)
class Batches:
    """Mini batches instead of all nodes at once.

    Args:
        size: nodes per batch at most (of all processes together); neighbours that are drawn come on top.
        sampling: how batches of nodes are cut out of a graph, see ``training.tasks.node_batches``; default: the first that the
            model names in ``batches``. Bases on disk have one way only.
        neighbours: of sampling "neighbours": how many are drawn of a node at most, for each layer of the model.
        evaluation: of induced batches. "whole": one pass over the whole graph, without gradients. "parts": in induced batches of
            all nodes, the same ones every time, where the whole graph is too much; the numbers are then those of a thinner graph.
        evaluate_every: epochs between two looks at the validation nodes; the last epoch of a run is always looked at.
        shards: of bases: parts of a batch, each with a random stream of its own. One process with S shards and S processes with
            one each do the same arithmetic. Default: one per process.
        memory: of bases: up to this size ("2GiB", or bytes) the training rows are held in memory, and the validation rows beside
            them; beyond, they are read for each batch. Default: a quarter of what is free.
    """

    size: int = 10_000
    sampling: str | None = None
    neighbours: int = 10
    evaluation: str = "whole"
    evaluate_every: int = 1
    shards: int | None = None
    memory: int | str | None = None

    def __post_init__(self) -> None:
        integer("Batches", "size", self.size, 1)
        integer("Batches", "neighbours", self.neighbours, 1)
        integer("Batches", "evaluate_every", self.evaluate_every, 1)
        one_of("Batches", "evaluation", self.evaluation, EVALUATIONS)
        if self.sampling is not None:
            one_of("Batches", "sampling", self.sampling, SAMPLINGS)
        if self.shards is not None:
            integer("Batches", "shards", self.shards, 1, self.size)

    @classmethod
    def of(cls, value: "Batches | int | None") -> "Batches | None":
        """None stays None; a number is a size."""
        if value is None or isinstance(value, Batches):
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError("fit", "batches", "a number of nodes or Batches", value)
        return cls(size=value)


@dataclass(frozen=True)
class Batch:
    """Arguments of the model, and a label per row of its answer.

    ``weights``: R x B, where every run counts its own nodes: those of a run add up to 1. None: all runs count the rows with a
    label, and -1 marks rows that are context only.
    """

    inputs: tuple[Any, ...]
    y: Tensor
    weights: Tensor | None = None
    class_weights: Tensor | None = None
    """R x C: how much a node of each class counts in the loss; None: all the same."""

    def losses(self, logits: Tensor, rows: int) -> Tensor:
        """R mean losses. ``rows``: how many rows of the whole batch count, of which this may be a shard."""
        losses = negative_log_likelihood(logits, self.y)
        if self.class_weights is not None:
            losses = losses * self.class_weights[:, self.y.clamp(min=0)]
        if self.weights is not None:
            return (losses * self.weights).sum(dim=1)
        return (losses * (self.y >= 0)).sum(dim=1) / rows
