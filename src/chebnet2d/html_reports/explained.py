"""An explanation on a page, and a page of explanations."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chebnet2d.explanations import SENTENCES, Explanation
from chebnet2d.html_reports.grids import Grid, Value, number
from chebnet2d.html_reports.pictures import Picture, picture
from chebnet2d.html_reports.rendering import check_report_file, render, write
from chebnet2d.plots import plot_explanation


@dataclass(frozen=True)
class Told:
    """``grids``: what the picture shows, as numbers."""

    title: str
    sentence: str
    picture: Picture
    grids: Sequence[Grid]


def told(explanation: Explanation, sentence: str, top: int) -> Told:
    e = explanation
    nodes = [[Value(str(i)), number(hops if hops >= 0 else None), _share(share)] for i, hops, share in e.top_nodes(top)]
    grids = [Grid(f"Nodes with the largest shares for {e.node}", ("node", "hops", "share"), nodes)]
    hops = [[number(d), _share(share)] for d, share in enumerate(e.hops)]
    grids.append(Grid(f"Hops for {e.node}", ("hops", "share"), hops))
    if e.bands:
        bands = [[Value(f"{band.low:.1f} to {band.high:.1f}"), _share(band.share)] for band in e.bands]
        grids.append(Grid(f"Frequencies for {e.node}: 0 smooth, 2 alternating", ("frequency", "share"), bands))
    if features := e.top_features(top):
        fall = e.permuted
        columns = ("feature", "share", *(() if fall is None else ("fall when shuffled",)))
        rows = [[Value(n), _share(s), *([] if fall is None else [_share(fall.get(n))])] for n, s in features]
        grids.append(Grid(f"Features with the largest shares for {e.node}", columns, rows))
    drawn = picture(plot_explanation(e, top=top), f"Shares in the logit of {e.class_name!r} at node {e.node}")
    return Told(f"Node {e.node}", sentence, drawn, grids)


def write_explanation_page(found: Sequence[Explanation], out: Path, top: int = 10, *, force: bool = False) -> None:
    """All explanations as one HTML file; a file that chebnet2d did not write is replaced with ``force`` alone."""
    check_report_file(out, force=force, owner="explain")
    kinds = dict.fromkeys(f"{e.by} Shares are {SENTENCES[e.kind]}.".lstrip() for e in found)
    title = f"Node {found[0].node}" if len(found) == 1 else f"{len(found)} nodes"
    values = {"title": f"{title} explained", "about": list(kinds)}
    write(render("explanations.html", explained=[told(e, _sentence(e), top) for e in found], **values), out)


def _sentence(e: Explanation) -> str:
    return (
        f"It is taken for {e.predicted!r}. The logit of {e.class_name!r} is {e.logit:.4f}: shares of {float(e.shares.sum()):.4f} "
        f"and a constant of {e.constant:.4f}."
    )


def _share(share: float | None) -> Value:
    return number(share, None if share is None else f"{share:+.4f}")
