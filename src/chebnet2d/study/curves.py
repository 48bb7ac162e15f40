"""Learning curves and predictions as short texts, for one column of a store, a CSV or a Parquet file.

Numbers are rounded to 1e-4, written as differences and compressed: 1000 epochs take about a kilobyte.
"""

import base64
import math
import zlib
from collections.abc import Sequence

import numpy as np

_STEPS = 10_000
_NONE = np.iinfo(np.int64).min // 4  # stands for what is no number


def pack_curve(values: Sequence[float]) -> str:
    """One number per epoch at which the validation nodes were looked at."""
    whole = [round(value * _STEPS) if math.isfinite(value) else _NONE for value in values]
    return _packed(np.diff(np.array(whole, dtype=np.int64), prepend=np.int64(0)))


def unpack_curve(text: str) -> list[float]:
    """
    >>> unpack_curve(pack_curve([0.5, 0.61234, float("nan"), 0.25]))
    [0.5, 0.6123, nan, 0.25]
    """
    whole = _unpacked(text).cumsum()
    return [math.nan if value == _NONE else int(value) / _STEPS for value in whole]


def pack_labels(labels: Sequence[int]) -> str:
    """Predicted classes, in the order of the test nodes of the split."""
    return _packed(np.asarray(labels, dtype=np.int64))


def unpack_labels(text: str) -> list[int]:
    """
    >>> unpack_labels(pack_labels([3, 0, 12]))
    [3, 0, 12]
    """
    return [int(value) for value in _unpacked(text)]


def _packed(numbers: np.ndarray) -> str:
    width = next(kind for kind in (np.int8, np.int16, np.int64) if _fits(numbers, kind))
    return f"{np.dtype(width).itemsize}:{base64.b64encode(zlib.compress(numbers.astype(width).tobytes(), 9)).decode()}"


def _fits(numbers: np.ndarray, kind: type[np.signedinteger]) -> bool:
    return not numbers.size or bool(np.iinfo(kind).min <= numbers.min() and numbers.max() <= np.iinfo(kind).max)


def _unpacked(text: str) -> np.ndarray:
    size, _, rest = text.partition(":")
    return np.frombuffer(zlib.decompress(base64.b64decode(rest)), dtype=f"<i{size}").astype(np.int64)
