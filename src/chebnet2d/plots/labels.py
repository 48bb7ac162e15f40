"""On which side of its point each label stands, so that they lie on as little as possible."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chebnet2d.plots.panels import inches

SIDES = ((0, -1), (1, 0), (-1, 0), (0, 1))  # below first
LETTER, LINE = 4.6, 10.0  # points, of a letter of size 7.5 and of a line
Point = tuple[float, float]


def label_sides(
    axes: Any, places: Mapping[int, Point], labels: Mapping[int, tuple[str, float]], edges: Sequence[tuple[Point, Point]]
) -> dict[int, tuple[int, int]]:
    """(right, up) of each label, of which one is 0 and the other 1 or -1. ``labels``: words, and points from their place.

    One after the other, each where it covers least: labels before it count most, then points, then edges.
    """
    wide, high = inches(axes)
    width, height = (end - start for start, end in (axes.get_xlim(), axes.get_ylim()))
    scale = 72 * min(wide / width, high / height)
    at = {node: scale * np.array(place) for node, place in places.items()}
    along = np.linspace(0.05, 0.95, 19)[:, None]
    lines = [scale * (np.array(a) * (1 - along) + np.array(b) * along) for a, b in edges]
    taken: list[np.ndarray] = []
    sides = {}
    for node, (words, away) in labels.items():
        boxes = [_box(at[node], words, away, side) for side in SIDES]
        points = np.array([place for other, place in at.items() if other != node]).reshape(-1, 2)
        costs = []
        for box in boxes:
            over = sum(bool((box[0] < other[1]).all() and (other[0] < box[1]).all()) for other in taken)
            crossed = sum(bool(_inside(box, line).any()) for line in lines)
            costs.append(10 * over + 5 * int(_inside(box, points).sum()) + crossed)
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        sides[node] = SIDES[best]
    return sides


def _box(place: np.ndarray, words: str, away: float, side: tuple[int, int]) -> np.ndarray:
    """Lower left and upper right corner, in points."""
    lines = words.split("\n")
    half = np.array([LETTER * max(map(len, lines)), LINE * len(lines)]) / 2
    centre = place + np.array(side) * (half + away)
    return np.stack([centre - half, centre + half])


def _inside(box: np.ndarray, points: np.ndarray) -> np.ndarray:
    return ((points > box[0]) & (points < box[1])).all(1)
