"""An empty figure. matplotlib is slow to import, so only when something is drawn."""

from typing import TYPE_CHECKING, Any

from chebnet2d._figures import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def canvas(
    columns: int = 1, rows: int = 1, *, title: str, width: float = 5.2, height: float = 3.7, **options: Any
) -> tuple["Figure", Any]:
    """The figure and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(rows, columns, squeeze=False, **options).reshape(-1)
    for axis in axes:
        axis.set_prop_cycle(color=COLOURS)
    return figure, axes
