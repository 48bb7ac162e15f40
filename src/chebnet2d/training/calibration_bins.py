"""Whether probabilities are what they say: of nodes that a model is 80 % sure of, 80 % should be right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BINS = 15


@dataclass(frozen=True)
class Bin:
    """Nodes whose confidence lies between ``low`` and ``high``: how many, their mean confidence, and the share that is right."""

    low: float
    high: float
    nodes: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """``bins``: those with nodes. ``error``: the expected calibration error, the mean over nodes of |confidence - right| of
    their bin (Naeini et al. 2015).
    """

    bins: Sequence[Bin]
    error: float

    @classmethod
    def of(cls, confidence: Sequence[float], right: Sequence[bool], bins: int = BINS) -> "Calibration":
        """``confidence``: the probability of the predicted class of each node; ``right``: whether that is its class."""
        sure, is_right = np.asarray(confidence, dtype=float), np.asarray(right, dtype=float)
        edges = np.linspace(0, 1, bins + 1)
        place = np.clip(np.searchsorted(edges[1:-1], sure), 0, bins - 1)
        found = []
        for b in range(bins):
            inside = place == b
            if count := int(inside.sum()):
                found.append(
                    Bin(float(edges[b]), float(edges[b + 1]), count, float(sure[inside].mean()), float(is_right[inside].mean()))
                )
        total = sum(one.nodes for one in found)
        error = math.fsum(one.nodes * abs(one.confidence - one.right) for one in found) / total if total else math.nan
        return cls(found, error)
