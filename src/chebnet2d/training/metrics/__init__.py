"""Metrics by name. A module in this folder that registers a metric is found by itself: adding one is adding a file."""

from chebnet2d._registry import import_modules
from chebnet2d.training.metrics.meter import Meter
from chebnet2d.training.metrics.metric import (
    METRICS,
    GatheredMetric,
    Metric,
    SumMetric,
    check_metric,
    find_metric,
    register_metric,
    shown_value,
    title_of_metric,
)

__all__ = [
    "METRICS",
    "GatheredMetric",
    "Meter",
    "Metric",
    "SumMetric",
    "check_metric",
    "find_metric",
    "register_metric",
    "shown_value",
    "title_of_metric",
]

import_modules(__name__)
