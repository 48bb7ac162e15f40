"""Pictures on disk, whichever package draws them."""

from pathlib import Path
from typing import TYPE_CHECKING

from chebnet2d._checks import InputError
from chebnet2d._targets import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".pdf", ".svg")


def check_picture(path: str | Path, owner: str = "save_figure") -> Path:
    """The path, if its ending names a picture format: asked before a long computation, not after it."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(owner, "path", f"in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", str(path), verb="end")
    return path


def save_figure(figure: "Figure", path: str | Path) -> Path:
    """Write a figure as .png, .pdf or .svg, cut to what is drawn. Missing folders are made; the file is whole or not there."""
    path = check_picture(path)
    with written_whole(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, bbox_inches="tight", pad_inches=0.15)
    return path
