"""A picture of one explanation: the neighbourhood with signed shares, and the shares of hops and frequencies."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from chebnet2d.explanations import SENTENCES, Explanation
from chebnet2d.plots.labels import label_sides
from chebnet2d.plots.panels import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOR, AGAINST = "#0072B2", "#D55E00"  # of Okabe and Ito; the sign beside each id says the same without colour
BETWEEN = "0.75"
FAINT = 0.02  # of the largest share: below, a node is grey
LONGEST_ID = 14
SHARE = 0.62  # of the width, for the neighbourhood


def plot_explanation(explanation: Explanation, *, top: int = 10, ax: Any = None) -> "Figure":
    """Draw the ``top`` nodes with the largest shares on rings by their distance, with the nodes on the way to them in grey.

    Blue with a plus speaks for the class, orange with a minus against it; areas are sizes of shares. On the right: the shares by
    distance and, for exact explanations, by frequency.
    """
    axes = canvas(ax, 10.0, 5.6)
    shown, parents = _shown(explanation, top)
    _draw_neighbourhood(axes.inset_axes((0, 0, SHARE, 1)), explanation, shown, parents)
    x, width = SHARE + 0.1, 1 - SHARE - 0.1
    both = explanation.bands is not None
    hops = axes.inset_axes((x, 0.6, width, 0.36) if both else (x, 0.3, width, 0.4))
    _bars(hops, [str(d) for d in range(len(explanation.hops))], explanation.hops, "share by distance in hops")
    if explanation.bands is not None:
        bands = axes.inset_axes((x, 0.05, width, 0.36))
        kind = "" if explanation.bands_exact else " (bands overlap)"
        names = [f"{band.low:.1f}" for band in explanation.bands]
        _bars(bands, names, [band.share for band in explanation.bands], f"share by frequency{kind}: 0 smooth, 2 alternating")
        bands.set_xticks([*(np.arange(len(names)) - 0.5), len(names) - 0.5], [*names, f"{explanation.bands[-1].high:.1f}"])
    e = explanation
    title = f"Node {_short(e.node)}: logit of {_short(e.class_name, 30)} is {e.logit:.3g} (constant {e.constant:.3g})"
    axes.set_title(title, fontsize=11, loc="left", parse_math=False)
    drawn = float(e.shares[shown].sum())
    sizes = e.shares[shown].abs()
    grey = f"; grey: less than {100 * FAINT:g} % of the largest share" if bool((sizes < FAINT * sizes.max()).any()) else ""
    caption = (
        f"blue, +: for the class; orange, -: against{grey}\nthe {len(shown)} nodes drawn hold {drawn:.3g} of {e.shares.sum():.3g}"
    )
    axes.text(0, -0.02, f"{caption}\n{SENTENCES[e.kind]}", transform=axes.transAxes, fontsize=8, va="top", color="0.3")
    return axes.figure


def _shown(e: Explanation, top: int) -> tuple[list[int], dict[int, int]]:
    """The nodes to draw, the explained one first, and for each node on a ring one neighbour on the ring before it."""
    size = e.shares.abs().numpy()
    chosen = [int(i) for i in np.argsort(-size, kind="stable")[:top] if size[i] > 0]
    matrix = e.adjacency.to_scipy()
    parents: dict[int, int] = {}
    for node in chosen:
        while e.distances[node] > 0 and node not in parents:
            neighbours = matrix[[node]].indices
            nearer = neighbours[e.distances[neighbours] == e.distances[node] - 1]
            known = [i for i in nearer if i in parents or i in chosen or i == e.index]
            parents[node] = int(known[0] if known else nearer[size[nearer].argmax()])
            node = parents[node]
    nodes = dict.fromkeys([e.index, *chosen, *parents, *parents.values()])
    return list(nodes), parents


def _places(e: Explanation, shown: list[int], parents: dict[int, int]) -> dict[int, tuple[float, float]]:
    """A tree of rings: each node has a sector as wide as the leaves below it. Nodes without a path lie outside of all rings."""
    children: dict[int, list[int]] = {node: [] for node in shown}
    loose = [node for node in shown if node != e.index and node not in parents]
    for child, parent in parents.items():
        children[parent].append(child)
    children[e.index] += loose
    leaves: dict[int, int] = {}

    def count(node: int) -> int:
        leaves[node] = sum(count(child) for child in children[node]) or 1
        return leaves[node]

    count(e.index)
    farthest = max([1, *(int(e.distances[node]) for node in shown)])
    places = {e.index: (0.0, 0.0)}

    def place(node: int, start: float) -> None:
        for child in children[node]:
            angle = 2 * math.pi * (start + leaves[child] / 2) / leaves[e.index] + 0.4
            radius = float(farthest + 1 if child in loose else e.distances[child])
            places[child] = (radius * math.cos(angle), radius * math.sin(angle))
            place(child, start)
            start += leaves[child]

    place(e.index, 0.0)
    return places


def _draw_neighbourhood(axes: Any, e: Explanation, shown: list[int], parents: dict[int, int]) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    places = _places(e, shown, parents)
    radius = max(math.hypot(*place) for place in places.values()) or 1.0
    for d in range(1, round(radius) + 1):
        angles = np.linspace(0, 2 * np.pi, 181)
        axes.plot(d * np.cos(angles), d * np.sin(angles), color="0.93", linewidth=1, zorder=0)
    among = e.adjacency.to_scipy()[shown][:, shown].tocoo()
    edges = [(places[shown[i]], places[shown[j]]) for i, j in zip(among.row, among.col, strict=True) if i < j]
    axes.add_collection(LineCollection(edges, colors="0.7", linewidths=0.8, zorder=1))
    largest = max(float(e.shares[shown].abs().max()), 1e-300)
    reach = radius + 0.35
    axes.set(xlim=(-reach, reach), ylim=(-reach - 0.15, reach), aspect="equal")
    axes.set_axis_off()
    words = {node: f"{_short(e.ids[node])}\n{float(e.shares[node]):+.2g}" for node in shown}
    sizes = {node: 40 + 560 * abs(float(e.shares[node])) / largest for node in shown}
    sides = label_sides(axes, places, {node: (words[node], 6 + 0.5 * math.sqrt(sizes[node])) for node in shown}, edges)
    for node in shown:
        share = float(e.shares[node])
        strength = abs(share) / largest
        colour = BETWEEN if strength < FAINT else FOR if share > 0 else AGAINST
        edge = "black" if node == e.index else "white"
        axes.scatter(*places[node], s=sizes[node], color=colour, edgecolors=edge, linewidths=1.4, zorder=2)
        (right, up), away = sides[node], 6 + 0.5 * math.sqrt(sizes[node])
        axes.annotate(
            words[node],
            places[node],
            (right * away, up * away),
            textcoords="offset points",
            ha=("right", "center", "left")[right + 1],
            va=("top", "center", "bottom")[up + 1],
            fontsize=7.5,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=3,
        )


def _bars(axes: Any, names: list[str], shares: Any, title: str) -> None:
    colours = [FOR if share >= 0 else AGAINST for share in shares]
    axes.bar(range(len(names)), shares, color=colours, width=0.8)
    axes.axhline(0, color="0.3", linewidth=0.8)
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(labelsize=7.5, length=2)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=8.5, loc="left")


def _short(value: Any, longest: int = LONGEST_ID) -> str:
    text = str(value)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
