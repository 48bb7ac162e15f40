"""What an explanation holds, and how it is told in lines and in JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from chebnet2d.graph import SparseOperator

EXACT = "exact"
GRADIENT = "gradient"
SENTENCES = {
    EXACT: "exact: the logit is a sum over nodes, and these are its terms",
    GRADIENT: "gradient times input: an estimate, since the logit is no sum over nodes; the constant is what is left over",
}


class Band(NamedTuple):
    """The share of the eigenvalues of the Laplacian from ``low`` to ``high``."""

    low: float
    high: float
    share: float


@dataclass(frozen=True)
class Explanation:
    """The logit of one class at one node, as a sum: ``shares.sum() + constant``.

    Args:
        node, index: the id of the node in the graph, and its row.
        class_name, class_index: the class whose logit it is.
        predicted: the name of the class that the model gives to the node.
        kind: "exact", or "gradient" (gradient times input) for models that are not linear after one convolution.
        shares: N numbers, one for each node of the graph.
        distances: N numbers of hops from the node; -1 where there is no path, or none as long as the polynomial.
        bands: shares of the frequencies; they add up to the logit without the constant. None for the gradient form.
        bands_exact: whether bands have sharp edges (exact spectrum), or flow into each other (polynomials).
        features: F numbers, gradient times input; None if not asked for.
        permuted: by feature, how much the logit falls when the feature is shuffled over the nodes; only if asked for.
        ids: of all nodes. adjacency: the graph.
        by: of an ensemble: which of its models this is about.
    """

    node: Any
    index: int
    class_name: str
    class_index: int
    predicted: str
    kind: str
    logit: float
    constant: float
    shares: Tensor = field(repr=False)
    distances: np.ndarray = field(repr=False)
    bands: Sequence[Band] | None = field(repr=False)
    bands_exact: bool
    features: Tensor | None = field(repr=False)
    feature_names: Sequence[str] | None = field(repr=False)
    permuted: dict[str, float] | None
    ids: Sequence[Any] = field(repr=False)
    adjacency: SparseOperator = field(repr=False)
    by: str = ""

    @property
    def hops(self) -> list[float]:
        """The shares of the nodes at distance 0, 1, 2, ...; nodes without a path are in none."""
        reached = self.distances >= 0
        return np.bincount(self.distances[reached], weights=self.shares.numpy()[reached]).tolist()

    def top_nodes(self, count: int = 10) -> list[tuple[Any, int, float]]:
        """(id, hops, share) of the nodes with the largest shares, for and against."""
        return [(self.ids[i], int(self.distances[i]), float(self.shares[i])) for i in _largest(self.shares, count)]

    def top_features(self, count: int = 10) -> list[tuple[str, float]]:
        """(name, share) of the features with the largest shares."""
        if self.features is None:
            return []
        return [(self.feature_name(i), float(self.features[i])) for i in _largest(self.features, count)]

    def bands_in_words(self) -> str:
        return ", ".join(f"{band.low:.1f}-{band.high:.1f}: {band.share:+.4f}" for band in self.bands or ())

    def feature_name(self, number: int) -> str:
        return str(number) if self.feature_names is None else str(self.feature_names[number])

    def to_json(self, top: int = 10) -> dict[str, Any]:
        return {
            "node": _plain(self.node),
            "class": self.class_name,
            "predicted": self.predicted,
            "kind": self.kind,
            "meaning": SENTENCES[self.kind],
            **({"by": self.by} if self.by else {}),
            "logit": self.logit,
            "constant": self.constant,
            "nodes": [{"node": _plain(node), "hops": hops, "share": share} for node, hops, share in self.top_nodes(top)],
            "hops": self.hops,
            "frequencies": None if self.bands is None else [band._asdict() for band in self.bands],
            "frequencies_exact": self.bands_exact,
            "features": [{"feature": name, "share": share} for name, share in self.top_features(top)],
            "permuted": self.permuted,
        }


def _largest(numbers: Tensor, count: int) -> list[int]:
    """Positions of the largest sizes, without zeros."""
    size = numbers.abs()
    return [i for i in size.argsort(descending=True, stable=True)[:count].tolist() if size[i] > 0]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
