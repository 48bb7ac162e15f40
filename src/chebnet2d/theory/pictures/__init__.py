"""A picture per statement. Each is a function that returns a matplotlib figure; ``PICTURES`` names them as the page does."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from chebnet2d._figures import save_figure
from chebnet2d.theory.degree import DegreeCurve
from chebnet2d.theory.pictures.adam import adam_figure
from chebnet2d.theory.pictures.approached import approached_figure
from chebnet2d.theory.pictures.approximation import approximation_figure
from chebnet2d.theory.pictures.degree import degree_figure
from chebnet2d.theory.pictures.effective import effective_figure
from chebnet2d.theory.pictures.gaps import gaps_figure
from chebnet2d.theory.pictures.interpolation import interpolation_figure
from chebnet2d.theory.pictures.numbers import numbers_figure
from chebnet2d.theory.pictures.stability import stability_figure
from chebnet2d.theory.pictures.sums import sums_figure
from chebnet2d.theory.pictures.targets import targets_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES: dict[str, Callable[[int], "Figure"]] = {
    "theorem3.1": targets_figure,
    "approached": approached_figure,
    "corollary3.2": sums_figure,
    "theorem3.6": numbers_figure,
    "section4.1": interpolation_figure,
    "effective": effective_figure,
    "adam": adam_figure,
    "approximation": approximation_figure,
    "stability": stability_figure,
    "gaps": gaps_figure,
}
"""Name -> function of the seed. The degree limit is drawn from the curves of a report: ``degree_figure``."""


def picture_files(folder: str | Path, suffix: str = ".png") -> list[Path]:
    """The files that ``save_pictures`` writes."""
    return [Path(folder) / f"{name}{suffix}" for name in (*PICTURES, "degree")]


def save_pictures(folder: str | Path, curves: Mapping[str, DegreeCurve], *, seed: int = 0, suffix: str = ".png") -> list[Path]:
    """All of them, below a folder that is made if need be."""
    drawn = (*(draw(seed) for draw in PICTURES.values()), degree_figure(curves))
    return [save_figure(figure, path) for figure, path in zip(drawn, picture_files(folder, suffix), strict=True)]


__all__ = [
    "PICTURES",
    "adam_figure",
    "approached_figure",
    "approximation_figure",
    "degree_figure",
    "effective_figure",
    "gaps_figure",
    "interpolation_figure",
    "numbers_figure",
    "picture_files",
    "save_pictures",
    "stability_figure",
    "sums_figure",
    "targets_figure",
]
