"""What a metric is: a number per run, from logits and labels that may come in batches."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeVar

from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._registry import Registry

M = TypeVar("M", bound="type[Metric]")


class Metric(ABC):
    """Higher is better. Derive from ``SumMetric`` or ``GatheredMetric``, not from this."""

    name: ClassVar[str]
    title: ClassVar[str] = ""
    """For people; by default the name with blanks."""
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    """Its least and its largest value. A number outside of it, in a file, is none of this metric."""
    labels: ClassVar[bool] = True
    """Whether it looks at the largest logit of a node alone, so that a threshold matters to it."""

    def applies(self, classes: int) -> bool:
        """Whether the metric is defined for this number of classes."""
        return True


METRICS: Registry[Metric] = Registry("metric")


class SumMetric(Metric):
    """A function of sums over nodes: nothing but the sums is kept, whatever the number of nodes."""

    @abstractmethod
    def sums(self, logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
        """R x K sums over the B nodes of a batch, best in float64; those of all batches are added up.

        Args:
            logits: R x B x C.
            y: B labels; -1 only where ``weights`` are given, and those of that node are 0.
            weights: R x B, those of a run add up to 1, with 0 on nodes that it does not count; None: all nodes count 1.
        """

    @abstractmethod
    def value(self, sums: Tensor, weight: Tensor) -> Tensor:
        """R values from the sums over all batches, NaN where it is not defined. ``weight``: the total weight of the nodes."""


class GatheredMetric(Metric):
    """A function of all nodes together, such as an area under a curve: the logits of all batches are kept."""

    @abstractmethod
    def score(self, logits: Tensor, y: Tensor) -> float:
        """The value of one run: N x C logits of the nodes that count, and their labels. NaN where it is not defined."""


def register_metric(name: str) -> Callable[[M], M]:
    """``@register_metric("my_metric")`` above a class makes it known by name to training, studies and searches."""

    def add(kind: M) -> M:
        kind.name, kind.title = name, kind.title or name.replace("_", " ")
        METRICS.add(name, kind())
        return kind

    return add


def find_metric(name: str) -> Metric:
    return METRICS.find(name, "find_metric")


def check_metric(owner: str, name: str, classes: int) -> str:
    """A metric by its name that is defined for this number of classes."""
    metric = METRICS.find(name, owner, "metric")
    if not metric.applies(classes):
        others = ", ".join(repr(one.name) for one in metrics_for(classes))
        raise InputError(owner, "metric", f"defined for {classes} classes", name, f"These are: {others}.")
    return name


def metrics_for(classes: int) -> list[Metric]:
    """All that are defined for this number of classes."""
    return [metric for metric in METRICS.values() if metric.applies(classes)]


def shown_value(name: str, value: float) -> str:
    """In percent, if it is from 0 to 1."""
    percent = name not in METRICS or METRICS[name].range == (0.0, 1.0)
    return f"{100 * value:.2f} %" if percent else f"{value:.4f}"


def title_of_metric(name: str) -> str:
    """For people. A metric that is registered elsewhere, whose numbers are in a store, has its name."""
    return METRICS[name].title if name in METRICS else name.replace("_", " ")
