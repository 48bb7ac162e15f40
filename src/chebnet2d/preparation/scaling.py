"""Numbers on a common scale: standard, through a signed logarithm, or by ranks.

    standard     (x - mean) / deviation
    signed-log   the same of sign(x) log(1 + |x| / unit), unit: the median of |x| where x is not 0
    quantile     the same of the normal score of the middle rank, from 257 stored quantiles

``choose_scaling``: standard where the skewness is at most 2; else the signed logarithm, if that makes it so; else ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

SCALINGS = ("standard", "signed-log", "quantile")
SKEWED = 2.0
FARTHEST = 100.0
"""In deviations: what is farther is cut there, so that one odd cell of a later graph cannot drown all others."""
_QUANTILES = 257
_TAIL = 1e-3


@dataclass(frozen=True)
class Scaling:
    """Fitted numbers. ``spread`` is 0 where the column is constant."""

    scaling: str
    centre: float
    spread: float
    unit: float
    quantiles: Sequence[float]

    def apply(self, values: Any) -> Any:
        """float64; NaN stays NaN."""
        mapped = _mapped(values, self.scaling, self.unit, np.asarray(self.quantiles))
        with np.errstate(over="ignore"):
            scaled = (mapped - self.centre) / (self.spread or 1.0)
        return np.clip(scaled, -FARTHEST, FARTHEST)


def fit_scaling(values: Any, scaling: str) -> Scaling:
    """``values``: finite numbers, at least one."""
    unit, quantiles = 1.0, np.zeros(0)
    if scaling == "signed-log":
        sizes = np.abs(values[values != 0])
        unit = float(np.median(sizes)) if sizes.size else 1.0
    elif scaling == "quantile":
        quantiles = np.quantile(values, np.linspace(0, 1, _QUANTILES))
    mapped = _mapped(values, scaling, unit, quantiles)
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = float(mapped.mean()), float(mapped.std())
    if not np.isfinite([centre, spread]).all():  # beyond the range of floats: ranks have no range
        return fit_scaling(values, "quantile")
    if spread <= 1e-12 * max(abs(centre), 1e-300):  # a deviation by rounding alone
        spread = 0.0
    return Scaling(scaling, centre, spread, unit, quantiles.tolist())


def choose_scaling(values: Any) -> Scaling:
    found = fit_scaling(values, "standard")
    for scaling in ("signed-log", "quantile"):
        if found.spread == 0 or abs(skewness(found.apply(values))) <= SKEWED:
            break
        found = fit_scaling(values, scaling)
    return found


def skewness(values: Any) -> float:
    spread = values.std()
    return float((((values - values.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0


def _mapped(values: Any, scaling: str, unit: float, quantiles: Any) -> Any:
    if scaling == "standard":
        return values
    if scaling == "signed-log":
        with np.errstate(over="ignore"):
            return np.sign(values) * np.log1p(np.abs(values) / unit)
    levels = np.linspace(0, 1, quantiles.size)
    # Of equal quantiles interp takes the last; read backwards, the first: their mean is the middle of the ties.
    last = np.interp(values, quantiles, levels)
    first = 1 - np.interp(-values, -quantiles[::-1], levels)
    return ndtri(np.clip((first + last) / 2, _TAIL, 1 - _TAIL))
