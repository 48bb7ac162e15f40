"""Bases of a graph for a model that was trained on some: those beside the model, where they are of this graph, or new ones."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chebnet2d.bases import Bases, BasesError, BasesSpec, PrecomputeProgress, give_up_edges, precompute
from chebnet2d.data.folders import locked_beside, temporary_beside
from chebnet2d.models import OnBases


@contextmanager
def bases_for(
    model: OnBases,
    data: Any,
    *,
    known: Path,
    out: Path,
    memory: int | str | None = None,
    progress: Callable[[PrecomputeProgress], None] | None = None,
) -> Iterator[Bases]:
    """Bases of all nodes of a prepared graph, of the kind that the model takes. The graph gives up its edges.

    Args:
        known: a folder that may hold them.
        out: else they are computed here, from where an interrupted call stopped, and deleted at the end.
        memory: as in ``precompute``.
    """
    held = model.stored
    spec = BasesSpec(basis=model.basis, degree=held["degree"], operator=held["operator"], rows="all")
    give_up_edges(data, spec.operator)
    if (known / "manifest.json").is_file():
        try:
            found = precompute(data, out=known, spec=spec, memory=memory)
        except BasesError:  # of another graph, or of some nodes alone
            found = None
        if found is not None:
            data.edge_index = None
            yield found
            return
    with locked_beside(out):  # which deletes what a kill has left of such a folder
        pass
    made = precompute(data, out=out, spec=spec, memory=memory, progress=progress)
    data.edge_index = None
    yield made
    aside = temporary_beside(out)  # killed while it is deleted, no half of it has a name that counts
    out.rename(aside)
    shutil.rmtree(aside)
