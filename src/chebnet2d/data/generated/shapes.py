"""What a generated graph has in common with the original."""

from dataclasses import dataclass, replace
from typing import Any

from chebnet2d._checks import one_of, real
from chebnet2d.data.catalogue import find_entry


@dataclass(frozen=True)
class GraphShape:
    """Counts of the graph. ``balance``: shares of the classes; ``parts``: shares of train, validation and test."""

    like: str
    nodes: int
    edges: int
    features: int
    classes: int
    homophily: float
    unlabelled: float
    balance: tuple[float, ...]
    parts: tuple[float, float, float]
    splits: int


_SHAPES: dict[str, dict[str, Any]] = {
    # Homophily of the originals: counted by others for the ogbn graphs, Lim et al. 2021 and Platonov et al. 2023 for the others.
    "ogbn-arxiv": {"homophily": 0.655, "parts": (90941, 29799, 48603), "splits": 1},
    "ogbn-products": {"homophily": 0.808, "parts": (196615, 39323, 2213091), "splits": 1},
    "penn94": {"homophily": 0.470, "unlabelled": 0.066, "parts": (0.5, 0.25, 0.25), "splits": 5},
    "genius": {"homophily": 0.618, "balance": (0.8, 0.2), "parts": (0.5, 0.25, 0.25), "splits": 5},
    "twitch-gamers": {"homophily": 0.545, "parts": (0.5, 0.25, 0.25), "splits": 5},
    "roman-empire": {"homophily": 0.05, "parts": (0.5, 0.25, 0.25), "splits": 10},
    "amazon-ratings": {"homophily": 0.38, "parts": (0.5, 0.25, 0.25), "splits": 10},
}
LIKE = tuple(_SHAPES)


def shape_of(like: str, scale: float = 1.0) -> GraphShape:
    """The shape of the original, or of a graph with that part of its nodes and edges."""
    entry = find_entry(like, "generate")
    one_of("generate", "like", entry.name, LIKE)
    scale = real("generate", "scale", scale, 1e-6, 1.0)
    given = _SHAPES[entry.name]
    nodes, edges, features, classes = (getattr(entry.statistics, key) for key in ("nodes", "edges", "features", "classes"))
    full = tuple(float(part) for part in given["parts"])
    shape = GraphShape(
        like=entry.name,
        nodes=nodes,
        edges=edges,
        features=features,
        classes=classes,
        homophily=given["homophily"],
        unlabelled=given.get("unlabelled", 0.0),
        balance=given.get("balance", (1 / classes,) * classes),
        parts=(full[0] / sum(full), full[1] / sum(full), full[2] / sum(full)),
        splits=given["splits"],
    )
    if scale == 1:
        return shape
    smaller = max(8 * classes, round(scale * nodes))
    features = min(features, smaller) if entry.format == "facebook100" else features
    return replace(shape, nodes=smaller, edges=max(smaller, round(scale * edges)), features=features)
