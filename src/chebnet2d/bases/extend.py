"""Bases of a graph that is nearly the one that there are bases of: rows that stay are read from there, the others computed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chebnet2d._checks import InputError
from chebnet2d._sizes import parse_bytes, resident_bytes
from chebnet2d.bases.bases import Bases
from chebnet2d.bases.change import Change, change_between, reach_of
from chebnet2d.bases.filling import PrecomputeProgress, fill, finished, widest
from chebnet2d.bases.folder import refuse_other
from chebnet2d.bases.inputs import BasesSpec, Inputs, read_inputs
from chebnet2d.bases.joined import JoinedBases
from chebnet2d.bases.manifest import digest
from chebnet2d.bases.marks import marks_of, read_marks
from chebnet2d.bases.reuse import Reuse
from chebnet2d.polynomials import ThreeTermBasis

MOST = 0.25
"""Share of the work up to which rows are reused: beyond, finding and reading them takes what it saves."""
_COMPARING = 128  # bytes a node, while marks are compared
_SAME = ("basis", "parameters", "operator", "degree", "features", "dtype")


@dataclass(frozen=True)
class Extended:
    """Bases, and how they came to be; ``str`` of it is a sentence.

    ``computed``: rows that were; ``share``: of the products that all rows would take.
    ``anew``: why nothing was reused; None where rows were.
    """

    bases: Bases
    computed: int
    share: float
    changed: int | None
    gone: int | None
    anew: str | None

    def __str__(self) -> str:
        if self.anew is not None:
            return f"bases: all computed anew, since {self.anew}"
        return (
            f"bases: extended. {self.changed} of {self.bases.num_nodes} nodes are new or have other edges or features, "
            f"{self.gone} are gone; {self.computed} rows computed ({100 * self.share:.2g} % of the work), the others as stored"
        )


def extend(
    known: Bases | str | Path,
    graph: Any,
    x: Any = None,
    *,
    out: str | Path,
    spec: BasesSpec | None = None,
    memory: int | str | None = None,
    block: int | None = None,
    progress: Callable[[PrecomputeProgress], None] | None = None,
) -> Extended:
    """Bases of all nodes of a graph, from those of a graph that differs in some nodes, edges or features.

    Nodes are told by their ids (``node_ids`` of the data; without, their numbers). Rows of nodes that are farther from every
    change than the degree are those that are stored. The others are computed as ``precompute`` does, from the rows of M and X of
    this graph and the terms of their neighbours, and kept in ``out``; both folders are read then. All rows are those of
    ``precompute`` up to rounding, and to the bit where nodes that stay are in the same order in both graphs: else sums are taken
    in another order.

    Where the change reaches more than a quarter of the work, or the known bases cannot tell, all rows are computed, and are in
    ``out`` as by ``precompute``. An interrupted call is continued by the same call.

    Args:
        known: finished bases of three-term recurrence (Chebyshev, for one) in float32. They stay as they are.
        spec: which bases, but for the rows; default: as the known ones.
        graph, x, out, memory, block, progress: as in ``precompute``.
    """
    known = known if isinstance(known, Bases) else Bases.open(known)
    out, limit = Path(out), None if memory is None else parse_bytes(memory, "extend")
    if out.exists() and out.samefile(known.folder):
        raise InputError("extend", "out", "another folder than that of the known bases", str(out))
    if spec is None:
        spec = BasesSpec(known.basis, known.degree, known.operator, known.manifest.dtype)
    inputs = read_inputs(graph, x, replace(spec, rows="all"))
    reuse, found, marks = _compared(known, inputs, limit)
    asked = inputs if reuse is None else _some_rows(inputs, reuse.rows)
    refuse_other(asked.manifest, out)
    made = finished(out, {})
    if made is None:
        width = widest(inputs, limit) if block is None else block
        made = fill(asked, out, width, progress=progress, marks=marks, reuse=reuse)
    if reuse is not None:
        labels, parts = (None if array is None else torch.from_numpy(array) for array in (inputs.labels, inputs.parts))
        made = JoinedBases(known, made, reuse.place, labels, parts)
    return Extended(made, **found)


def _compared(known: Bases, inputs: Inputs, limit: int | None) -> tuple[Reuse | None, dict[str, Any], Any]:
    """The rows to reuse, or None; the facts for ``Extended``; and marks of the new nodes, where they were made."""
    nodes, basis = inputs.manifest.nodes, inputs.basis
    facts: dict[str, Any] = {"computed": nodes, "share": 1.0, "changed": None, "gone": None}
    if (obstacle := _obstacle(known, inputs, limit)) is not None:
        return None, facts | {"anew": obstacle}, None
    old = read_marks(known.folder, known.num_nodes)
    if old is None:
        return None, facts | {"anew": "the stored ones do not say which nodes they are of, as those of earlier versions"}, None
    marks = marks_of(inputs.matrix, inputs.features, inputs.ids)
    change = change_between(old, marks)
    if change is None:
        return None, facts | {"anew": "two nodes cannot be told from each other"}, marks
    facts |= {"changed": change.changed, "gone": change.gone}
    place = _places(known, change)
    reach = reach_of(inputs.matrix, change, place >= 0, known.degree, MOST)
    if reach is None:
        reason = f"{change.changed} of {nodes} nodes are new or have other edges or features"
        unstored = int(((place < 0) & (change.old >= 0)).sum())
        also = f" and {unstored} rows are not stored" if unstored else ""
        return None, facts | {"anew": f"{reason}{also}, which reaches more than a quarter of the work"}, marks
    assert isinstance(basis, ThreeTermBasis)
    facts |= {"computed": len(reach.rows), "share": reach.share, "anew": None}
    return Reuse(known, basis, place, reach), facts, marks


def _obstacle(known: Bases, inputs: Inputs, limit: int | None) -> str | None:
    """Why rows of these bases are of no use for others, whatever the graph."""
    if not isinstance(inputs.basis, ThreeTermBasis):
        return f"the {inputs.basis.name} basis has no fixed recurrence of three terms"
    for name in _SAME:
        if getattr(known.manifest, name) != getattr(inputs.manifest, name):
            return f"the stored ones have another {name}" if name != "features" else "the stored ones have other columns"
    if known.manifest.dtype != "float32":
        return f"the stored ones are rounded to {known.manifest.dtype}"
    if limit is not None and resident_bytes() + _COMPARING * inputs.manifest.nodes > limit:
        return "the memory does not suffice for a comparison"
    return None


def _some_rows(inputs: Inputs, rows: Any) -> Inputs:
    """The same, of which some rows are kept."""
    labels, parts = (None if array is None else array[rows] for array in (inputs.labels, inputs.parts))
    manifest = replace(inputs.manifest, rows=rows.size, rows_digest=digest(rows))
    return inputs._replace(manifest=manifest, rows=rows, labels=labels, parts=parts)


def _places(known: Bases, change: Change) -> Any:
    """The stored row of each node, -1 for none."""
    rows = np.full(known.num_nodes + 1, -1, dtype=np.int64)
    rows[known.nodes.numpy()] = np.arange(len(known))
    return rows[change.old]  # the last one is for nodes that are new: -1
