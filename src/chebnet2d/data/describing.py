"""What is in a graph, before any training: its facts, and what each column becomes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse
import torch
from scipy.sparse.csgraph import connected_components
from torch_geometric.data import Data

from chebnet2d.data.counts import count_twins
from chebnet2d.data.dataset import both_directions, num_classes
from chebnet2d.preparation.preparation import raw_features

SMALL = 0.1
"""A class with a smaller share of the labels is one that accuracy hardly sees."""


def describe(data: Any) -> dict[str, Any]:
    """Facts ready for JSON: sizes, components, degrees, homophily, classes, duplicates, columns, and notes in sentences."""
    nodes = int(data.num_nodes)
    listed = data.edge_index.numpy()
    edges = both_directions(listed, nodes)
    row, col = edges.numpy()
    degrees = np.bincount(row, minlength=nodes)
    matrix = scipy.sparse.coo_array((np.ones(row.size, dtype=bool), (row, col)), shape=(nodes, nodes))
    count, component = connected_components(matrix, directed=False)
    loops = int((listed[0] == listed[1]).sum())
    twins, duplicates = count_twins(Data(x=data.x, edge_index=edges, y=data.y, num_nodes=nodes))
    classes = class_balance(data)
    columns = _columns(data)
    facts = {
        "name": data.name,
        "nodes": nodes,
        "listed_edges": int(listed.shape[1]),
        "edges": row.size // 2,
        "self_loops": loops,
        "components": int(count),
        "largest_component": int(np.bincount(component).max()),
        "isolated": int((degrees == 0).sum()),
        "degrees": {name: float(np.quantile(degrees, level)) for name, level in (("least", 0), ("median", 0.5), ("most", 1))}
        | {"mean": float(degrees.mean())},
        "homophily": _homophily(row, col, data.y.numpy()),
        "twins": twins,
        "duplicates": duplicates,
        "labelled": int((data.y >= 0).sum()),
        "classes": classes,
        "features": int(data.num_features),
        "columns": columns,
    }
    return {**facts, "notes": [*(data.get("notes") or ()), *_notes(facts, label_candidates(data))]}


def class_balance(data: Any) -> dict[str, int]:
    """Labelled nodes of each class, by its name."""
    counts = torch.bincount(data.y[data.y >= 0], minlength=num_classes(data)).tolist()
    names = data.get("class_names") or range(len(counts))
    return {str(name): count for name, count in zip(names, counts, strict=True)}


def _columns(data: Any) -> list[dict[str, Any]]:
    preparation = data.get("preparation")
    if preparation is None or preparation.encoding is None or preparation.encoding.sparse is not None:
        return []
    raw = raw_features(data)
    found = []
    for column in preparation.encoding.columns:
        values = None if torch.is_tensor(raw) else raw.column(column.name)
        gaps = int(torch.isnan(raw[:, int(column.name)]).sum()) if values is None else values.null_count
        facts = {"name": column.name, "kind": column.kind, "became": column.became, "features": len(column.features)}
        found.append({**facts, "gaps": gaps})
    return found


def label_candidates(data: Any) -> list[str]:
    """Columns of few different values, which may be labels that nobody has named."""
    preparation = data.get("preparation")
    if preparation is None or preparation.encoding is None:
        return []
    return [column.name for column in preparation.encoding.columns if column.kind in ("category", "flag")]


def _homophily(row: Any, col: Any, y: Any) -> float | None:
    """The share of edges between nodes of one class, among those whose ends are labelled."""
    known = (y[row] >= 0) & (y[col] >= 0)
    return round(float((y[row] == y[col])[known].mean()), 4) if known.any() else None


def _notes(facts: dict[str, Any], candidates: list[str]) -> list[str]:
    notes = []
    if facts["listed_edges"] == 0:
        notes.append("the graph has no edges: every method sees the features alone")
    elif 2 * facts["isolated"] > facts["nodes"]:
        notes.append(f"{facts['isolated']} of {facts['nodes']} nodes have no neighbour: are the ids those of the edges?")
    for name, count in facts["classes"].items():
        if 0 < count < 5:
            notes.append(f"class {name!r} has {count} labelled node{'s' if count > 1 else ''}: too few to train, choose and test")
    small = small_classes(facts["classes"])
    if small:
        notes.append(small)
    if len(facts["classes"]) < 2:
        which = f"; has one of these columns the labels? {', '.join(map(repr, candidates[:8]))}" if candidates else ""
        notes.append(f"there are no labels of two classes: nothing can be trained{which}")
    if facts["features"] == 0:
        notes.append("no column is left as a feature: 'degree' and 'identity' can be made from the graph")
    return notes


def small_classes(classes: Mapping[str, int]) -> str:
    """A sentence on the classes that have few of the labels, and what to do; "" where none has.

    Few: below a tenth, and below half of an equal share, since of twenty classes most are below a tenth.
    """
    labelled, limit = sum(classes.values()), min(SMALL, 0.5 / max(len(classes), 1))
    small = [(name, count) for name, count in classes.items() if 0 < count < limit * labelled]
    if not small:
        return ""
    listed = ", ".join(f"{name!r} {100 * count / labelled:.1f} % ({count} of {labelled})" for name, count in small[:5])
    more = f" and {len(small) - 5} more" if len(small) > 5 else ""
    advice = "judge by f1_macro, balanced_accuracy or average_precision, and balance the weights of the classes"
    return f"few labels are of class {listed}{more}: accuracy hardly sees them; {advice}"
