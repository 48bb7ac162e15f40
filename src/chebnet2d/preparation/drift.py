"""How far a graph has moved from the one that a model was trained on: degrees, means of features, shares of categories."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from chebnet2d.graph.listed_edges import neighbour_counts
from chebnet2d.preparation.encoding import Encoding

MOST_FEATURES = 5000
"""Means of wider features are not kept."""
SHIFT = 0.5
"""In deviations of the training graph: from here on a mean is told."""
SHARE = 0.1
"""From here on another share of a category, of ones or of gaps is told."""
_FEW = 5


def reference_of(data: Any) -> dict[str, Any]:
    """What to compare with later: sizes, degrees, and the mean of each feature where these are not too many."""
    x = data.x
    wide = x.layout != torch.strided or x.shape[1] > MOST_FEATURES
    return {**_degrees(data), "means": None if wide else x.double().mean(dim=0).tolist()}


def drift_lines(data: Any, encoding: Encoding, reference: Mapping[str, Any]) -> list[str]:
    """Sentences on what differs; none where nothing does."""
    lines = []
    now = _degrees(data)
    then_mean, now_mean = float(reference["degree"]), now["degree"]
    if max(then_mean, now_mean) > 1.5 * min(then_mean, now_mean) or abs(now["isolated"] - reference["isolated"]) > SHARE:
        isolated = f"{100 * reference['isolated']:.0f} % -> {100 * now['isolated']:.0f} % without one"
        lines.append(f"drift of the graph: {then_mean:.2f} -> {now_mean:.2f} neighbours of a node in the mean, {isolated}")
    means = reference.get("means")
    if means is not None and data.x.layout == torch.strided and len(means) == data.x.shape[1]:
        moved = _moved(encoding, np.asarray(means), data.x.double().mean(dim=0).numpy())
        if moved:
            more = f" and {len(moved) - _FEW} more" if len(moved) > _FEW else ""
            lines.append(f"drift of features: {'; '.join(text for _, text in moved[:_FEW])}{more}")
    return lines


def _moved(encoding: Encoding, then: Any, now: Any) -> list[tuple[float, str]]:
    """(how far, in words) of each feature that moved, the farthest first."""
    found, position = [], 0
    for column in encoding.columns:
        scaled = {"number": 1, "moment": 1, "vector": len(column.features)}.get(column.kind, 0)
        for k, name in enumerate(column.features):
            before, after = float(then[position]), float(now[position])
            position += 1
            if column.kind == "count" or (column.kind == "moment" and k > 0 and not name.endswith(" is missing")):
                continue  # of no known scale, or a point on a circle
            if k < scaled and not name.endswith(" is missing"):
                size, text = abs(after - before) / SHIFT, f"{name} {after - before:+.1f} deviations"
            else:
                size, text = abs(after - before) / SHARE, f"{name} {100 * before:.0f} % -> {100 * after:.0f} %"
            if size >= 1:
                found.append((size, text))
    return sorted(found, key=lambda one: -one[0])


def _degrees(data: Any) -> dict[str, Any]:
    nodes = int(data.num_nodes)
    degrees = neighbour_counts(data.edge_index, nodes)
    return {"nodes": nodes, "degree": float(degrees.mean()), "isolated": float((degrees == 0).mean())}
