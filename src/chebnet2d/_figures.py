"""Pictures on disk, whichever package draws them."""

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chebnet2d._checks import InputError
from chebnet2d._targets import Mark, check_target, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".pdf", ".svg")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#E69F00")
"""Of Okabe and Ito: they differ for the colour-blind too. Their yellow, which print loses, is left out."""
_NOTES = {".png": "Software", ".pdf": "Creator", ".svg": "Creator"}
_MARKS = (Mark(b"\x89PNG", b"Software\0chebnet2d"), Mark(b"%PDF", b"(chebnet2d)"), Mark(b"<?xml", b">chebnet2d<"))


def check_picture(path: str | Path, owner: str = "save_figure") -> Path:
    """The path, if its ending names a picture format: asked before a long computation, not after it."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(owner, "path", f"in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", str(path), verb="end")
    return path


def check_picture_file(owner: str, argument: str, path: Path, *, keep: Sequence[Path | None] = (), force: bool = False) -> None:
    """Before the work: whether a picture can be written there, in the place of none or of one of ours, unless ``force``."""
    check_target(owner, argument, path, keep, marks=_MARKS, force=force)


_ALPHABETS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "Microsoft YaHei", "Yu Gothic", "Hiragino Sans"),
    *("PingFang SC", "Arial Unicode MS", "Noto Sans", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Emoji", "Segoe UI Symbol"),
)


@contextmanager
def all_alphabets(figure: "Figure") -> Iterator[None]:
    """Letters that matplotlib's own font has not are taken from fonts of this machine, where it has some."""
    from matplotlib import font_manager, rcParams
    from matplotlib.text import Text

    installed = set(font_manager.get_font_names())
    families = [*rcParams["font.family"], *(name for name in _ALPHABETS if name in installed)]
    for text in figure.findobj(Text):
        text.set_fontfamily(families)
    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    log.setLevel(logging.ERROR)  # that a fallback has no upright weight is nobody's concern
    try:
        with warnings.catch_warnings():
            # A letter that no font has is an empty box in the picture; a line of our source for each of them helps nobody.
            warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
            yield
    finally:
        log.setLevel(level)


def save_figure(figure: "Figure", path: str | Path) -> Path:
    """Write a figure as .png, .pdf or .svg, cut to what is drawn. Missing folders are made; the file is whole or not there."""
    path = check_picture(path)
    ending = path.suffix.lower()
    options: dict[str, Any] = {"dpi": 150, "bbox_inches": "tight", "pad_inches": 0.15, "metadata": {_NOTES[ending]: "chebnet2d"}}
    drawn = io.BytesIO()  # matplotlib leaves a file open where the disk is full
    with all_alphabets(figure):
        figure.savefig(drawn, format=ending[1:], **options)
    with written_whole(path) as temporary:
        temporary.write_bytes(drawn.getvalue())
    return path
