"""Figures inside of a page: our own drawings as SVG, in the address of the image itself.

An image runs no scripts and shares no names with the page, so what users call their classes stays what it is; and the same
function draws the picture in a file and on a page, which a library in the page would have to draw again.
"""

import base64
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chebnet2d._figures import all_alphabets

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SCALE = 1.6  # pixels of a point: a fifth larger than in print, so that letters of 7 points are read on a screen


@dataclass(frozen=True)
class Picture:
    """``alt``: for who cannot see it. ``width``: in pixels."""

    address: str
    alt: str
    caption: str
    width: int


def picture(figure: "Figure", caption: str) -> Picture:
    """The titles and captions in the figure are its alternative text."""
    from matplotlib import rc_context

    drawn = io.BytesIO()
    options: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0.05, "transparent": True}
    with all_alphabets(figure), rc_context({"svg.hashsalt": "chebnet2d"}):  # the same picture has the same bytes
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": "chebnet2d"}, **options)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), drawn.getvalue().decode())
    wide = re.search(r'<svg [^>]*?width="([\d.]+)pt"', text)
    code = base64.b64encode(text.encode()).decode()
    words = ". ".join(dict.fromkeys(_words(figure)))
    return Picture(
        f"data:image/svg+xml;base64,{code}", f"{caption}: {words}", caption, round(float(wide[1]) * SCALE) if wide else 600
    )


def _words(figure: "Figure") -> list[str]:
    """Titles and names of axes, also of axes inside of axes."""
    axes: list[Any] = list(figure.axes)
    found = []
    while axes:
        one = axes.pop(0)
        axes[:0] = one.child_axes
        texts = [one.get_title(), one.get_title(loc="left"), *((one.get_xlabel(), one.get_ylabel()) if one.axison else ())]
        found += [" ".join(text.replace(r"\$", "$").split()) for text in texts if text]
    return found
