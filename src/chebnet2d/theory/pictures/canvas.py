"""An empty figure. matplotlib is slow to import, so only when something is drawn."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def canvas(
    columns: int = 1, rows: int = 1, *, title: str, width: float = 5.2, height: float = 3.7, **options: Any
) -> tuple["Figure", Any]:
    """The figure and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    figure.suptitle(title)
    return figure, figure.subplots(rows, columns, squeeze=False, **options).reshape(-1)
