"""A graph from one word: a dataset by its name, or the user's own graph by its path."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._sizes import peak_bytes, resident_bytes, show_bytes
from chebnet2d.data.catalogue import known_name
from chebnet2d.data.describing import label_candidates
from chebnet2d.data.loading import load
from chebnet2d.data.own_graph import is_graph_path, read_graph
from chebnet2d.data.own_graph.estimate import reading_bytes
from chebnet2d.data.own_graph.folder import EDGES, FEATURES, LABELS


def load_graph(name: str = "", root: str | Path | None = None, **reading: Any) -> Any:
    """A dataset of the catalogue, or the user's own graph from a path or from single files.

    ``reading``: arguments of ``read_graph``, for a graph of the user's own only.
    """
    if not name and "edges" not in reading:
        rule, hint = "given by a name, a path or a list of edges", "Name one, or give {}."
        raise InputError("load_graph", "the graph", rule, got="none of them", hint=hint, mentions=("edges",))
    if name and "edges" in reading:
        raise InputError("load_graph", "edges", "the only graph", got=f"{name!r} besides")
    if not name or is_own_graph(name):
        return read_graph(name or None, **reading)
    for argument in reading:
        got, hint = f"it with the dataset {name!r}", "Give a path or {}."
        raise InputError("load_graph", argument, "with a graph of your own", got=got, hint=hint, verb="come", mentions=("edges",))
    if known_name(name) is None and Path(name).is_dir():
        raise InputError("load_graph", f"the folder {name!r}", " or ".join(EDGES), got="none of them", verb="have")
    return load(name, root=root)


def is_own_graph(name: str) -> bool:
    """Whether it means a graph of the user's own. A dataset's name means the dataset, also beside a folder of that name."""
    return known_name(name) is None and is_graph_path(name)


def files_of(name: str, reading: Mapping[str, Any]) -> list[Path]:
    """The files that ``load_graph`` may read for a graph of the user's own, which nothing must replace."""
    single = [Path(reading[part]) for part in ("edges", "features", "labels") if part in reading]
    if not name or not is_own_graph(name):
        return single
    return [*single, Path(name), *(Path(name) / file for file in (*EDGES, *FEATURES, *LABELS))]


def reading_bytes_of(name: str, reading: Mapping[str, Any], *, on_disk: bool = False) -> int:
    """About the memory that ``load_graph`` takes at its peak for a graph of the user's own; 0 for a dataset."""
    if name and not is_own_graph(name):
        return 0
    edges = Path(reading["edges"]) if "edges" in reading else Path(name)
    return reading_bytes(files_of(name, reading), edges, on_disk=on_disk)


def way_of_reading(
    owner: str, limit: int | None, name: str, reading: Mapping[str, Any], *, chunks: bool = True
) -> dict[str, Any]:
    """Arguments of ``load_graph`` with which the files are read within the limit of the process; an error where there are none.

    Edges are read in chunks where they are too many. ``chunks``: whether the caller can do with such. ``limit`` None: there is
    none.
    """
    if limit is None:
        return {}
    least = None
    for on_disk in (False, True)[: 2 if chunks else 1]:
        needed = resident_bytes() + reading_bytes_of(name, reading, on_disk=on_disk)
        if needed <= limit:
            return {"edges_on_disk": True} if on_disk else {}
        least = needed if least is None else min(least, needed)
    assert least is not None
    raise InputError(owner, "memory", f"about {show_bytes(least)} to read these files", got=show_bytes(limit))


def check_read(owner: str, limit: int | None) -> None:
    """Whether the limit has held so far."""
    needed = peak_bytes()
    if limit is not None and needed > limit:
        raise InputError(owner, "memory", f"at least {show_bytes(needed)}, which reading the graph took", got=show_bytes(limit))


def check_trainable(data: Any, owner: str) -> None:
    """A classifier needs two classes to tell apart, and something to tell them by."""
    found = data.y[data.y >= 0].unique() if data.get("y") is not None else ()
    if len(found) < 2:
        got, hint = "no labels" if len(found) == 0 else "one class only", "Name their column by {} or their file by {}."
        if len(found) == 0 and (columns := label_candidates(data)):
            shown = ", ".join(map(repr, columns[:8])).replace("{", "{{").replace("}", "}}")  # the hint is a template
            hint += f" Columns of few values: {shown}."
        rule = "labels of at least two classes"
        raise InputError(owner, "the graph", rule, got=got, hint=hint, verb="have", mentions=("label", "labels"))
    if data.num_features == 0:
        left_out = data.preparation.encoding.columns if data.get("preparation") is not None else ()
        got = "; ".join(f"{column.name!r} {column.became}" for column in left_out[:5]) or "none"
        hint = "Features can be made from the graph alone: 'degree' or 'identity' by {}."
        raise InputError(owner, "the graph", "a feature", got=got, hint=hint, verb="have", mentions=("features",))
