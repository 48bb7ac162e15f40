"""Bases of a graph for a model that was trained on some: those beside the model, where they are of this graph, or new ones,
which take from them what stays."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chebnet2d.bases import Bases, BasesError, BasesSpec, OtherBasesError, PrecomputeProgress, extend, give_up_edges, precompute
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
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Bases]:
    """Bases of all nodes of a prepared graph, of the kind that the model takes. The graph gives up its edges.

    Args:
        known: a folder that may hold them, or those of a graph that has changed since: then rows that stay are read from there.
        out: where they are made, unless they are known, from where an interrupted call stopped, and deleted at the end.
        memory: as in ``precompute``.
        tell: called with a sentence about which of this was done.
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
            tell("bases: those of the model, which are of this graph")
            yield found
            return
    with locked_beside(out):  # which deletes what a kill has left of such a folder
        pass
    try:
        made, how = _made(data, known, out, spec, memory, progress)
    except OtherBasesError:  # an interrupted call for another graph, or beside other bases, has left them
        _delete(out)
        made, how = _made(data, known, out, spec, memory, progress)
    tell(how)
    data.edge_index = None
    yield made
    _delete(out)


def _made(data: Any, known: Path, out: Path, spec: BasesSpec, memory: Any, progress: Any) -> tuple[Bases, str]:
    """Bases of which some or all are in ``out``, and a sentence."""
    try:
        stored = Bases.open(known)
    except BasesError:
        made = precompute(data, out=out, spec=spec, memory=memory, progress=progress)
        return made, "bases: computed of this graph, since there are none beside the model"
    extended = extend(stored, data, out=out, spec=spec, memory=memory, progress=progress)
    return extended.bases, str(extended)


def _delete(folder: Path) -> None:
    aside = temporary_beside(folder)  # killed while it is deleted, no half of it has a name that counts
    folder.rename(aside)
    shutil.rmtree(aside)
