"""Where the parts of a graph lie: found in a folder or named one by one, and checked before anything is read."""

import os
from dataclasses import dataclass
from pathlib import Path

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.folder import EDGES, FEATURES, LABELS, TABLES, WHOLE, find_file
from chebnet2d.data.own_graph.graphml import read_graphml
from chebnet2d.data.own_graph.table import Table, open_table

MATRICES = (".npy", ".npz")
_OWNER = "read_graph"
_TABLE_SUFFIXES = (*TABLES, ".pq")
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Sources:
    """Where the parts are. ``nodes`` is a table beside the features: that of GraphML, or one for ids and labels alone."""

    name: str
    edges: Table
    nodes: Table | None
    features: Path | None
    labels: Path | None
    graphml: bool = False


def find_sources(whole: Path | None, given: dict[str, Path | None], made: bool) -> Sources:
    edges, features, labels = given["edges"], given["features"], given["labels"]
    if whole is not None and whole.is_dir():
        name = whole.resolve().name
        edges = edges or find_file(whole, EDGES)
        features = features or find_file(whole, FEATURES)
        labels = labels or find_file(whole, LABELS)
        if edges is None:
            rule = f"{', '.join(EDGES[:-1])} or {EDGES[-1]}"
            raise InputError(str(whole), "the folder", rule, got=_listing(whole), verb="hold")
    elif whole is not None and whole.suffix.lower() == ".graphml":
        if edges is not None:
            raise InputError(str(whole), "edges", "from one place", got=f"{edges} beside a graph", verb="come")
        edge_table, node_table = read_graphml(whole)
        return Sources(whole.stem, edge_table, node_table, features, labels, graphml=True)
    else:
        if whole is not None and edges is not None:
            raise InputError(str(whole), "edges", "from one place", got=f"{edges} beside an edge table", verb="come")
        edges = edges or whole
        if edges is None:
            raise InputError(_OWNER, "path or edges", "given", got="neither")
        name = edges.stem
    nodes = None
    if made and features is not None:
        nodes = open_table(features) if features.suffix.lower() in _TABLE_SUFFIXES else None
        features = None
    return Sources(name, open_table(edges), nodes, features, labels)


def checked_path(path: PathLike) -> Path:
    """A folder, an edge table or a whole graph, which exists."""
    found = Path(path).expanduser()
    if not found.exists():
        raise InputError(_OWNER, "path", "a folder or file that exists", str(path))
    if found.is_dir() or found.suffix.lower() in (*_TABLE_SUFFIXES, *WHOLE):
        return found
    pickled = found.suffix.lower() in (".pt", ".pth", ".pkl", ".pickle")
    hint = "Such files can run code when they are read; write the Data with chebnet2d.data.write_graph instead."
    rule = f"a folder, an edge table ({', '.join(TABLES)}) or a graph ({', '.join(WHOLE)})"
    raise InputError(_OWNER, "path", rule, str(path), hint if pickled else "")


def checked_file(purpose: str, path: PathLike | None) -> Path | None:
    """A file for the purpose ("edges", "features" or "labels"), if one is named."""
    if path is None:
        return None
    found = Path(path).expanduser()
    if not found.is_file():
        word = purpose == "features" and not found.suffix
        hint = "The words for features without a file are 'degree' and 'identity'." if word else ""
        raise InputError(_OWNER, purpose, "a file that exists", str(path), hint)
    suffixes = (*_TABLE_SUFFIXES, *MATRICES) if purpose == "features" else _TABLE_SUFFIXES
    if found.suffix.lower() not in suffixes:
        raise InputError(_OWNER, purpose, f"a file of the kind {', '.join(suffixes)}", str(path))
    return found


def _listing(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir())
    return (", ".join(names[:6]) + (", ..." if len(names) > 6 else "")) or "an empty folder"
