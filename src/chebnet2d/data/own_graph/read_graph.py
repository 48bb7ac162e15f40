"""One function for every way in which a graph lies on a disk."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d.data.own_graph.arrays import read_feature_file
from chebnet2d.data.own_graph.assemble import MADE_FEATURES, assemble
from chebnet2d.data.own_graph.columns import meant
from chebnet2d.data.own_graph.edges import read_edges
from chebnet2d.data.own_graph.feature_table import NodeTable, read_node_table
from chebnet2d.data.own_graph.folder import EDGES, FEATURES, LABELS, TABLES, WHOLE, find_file
from chebnet2d.data.own_graph.graphml import read_graphml
from chebnet2d.data.own_graph.labels import read_labels
from chebnet2d.data.own_graph.npz_graph import read_npz
from chebnet2d.data.own_graph.saved_graph import read_saved
from chebnet2d.data.own_graph.table import Table, open_table

_OWNER = "read_graph"
_TABLE_SUFFIXES = (*TABLES, ".pq")
PathLike = str | os.PathLike[str]


def read_graph(
    path: PathLike | None = None,
    *,
    edges: PathLike | None = None,
    features: PathLike | None = None,
    labels: PathLike | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    node_id: str | None = None,
    label: str | None = None,
    ignore: Sequence[str] = (),
    missing_features: str = "error",
    categorical: str = "error",
    unlabelled: str | None = None,
    header: bool | None = None,
) -> Any:
    """A torch_geometric ``Data`` from the user's files.

    The result has ``x`` (float32, dense or CSR), ``edge_index`` (the edges as listed), ``edge_weight`` (float32, if there are
    weights), ``y`` (int64, -1 without a label), ``node_ids`` (the user's ids, an array), ``class_names``, ``name``, ``metric``,
    and ``feature_names`` where features have names. Nodes are sorted by id, unless the file numbers them itself.

    Args:
        path: a folder with edges, features (or nodes) and labels; or one .npz, .safetensors or .graphml file; or an edge table.
        edges, features, labels: single files, instead of those of the folder. ``features`` may also be "degree" or "identity".
        source, target, weight: columns of the edge table, where their names are not recognised.
        node_id, label: columns of the features and labels tables.
        ignore: columns of the features table to leave out.
        missing_features: what a missing value, or a node without a row, becomes: "error", "zero" or "mean" (of its column).
        categorical: what a column of words becomes: "error" or "one-hot".
        unlabelled: a label that means "none", beside an empty field.
        header: whether CSV files begin with a line of names, where the files leave doubt.
    """
    one_of(_OWNER, "missing_features", missing_features, ("error", "zero", "mean"))
    one_of(_OWNER, "categorical", categorical, ("error", "one-hot"))
    made = features if isinstance(features, str) and features in MADE_FEATURES else None
    given = {
        "edges": _file("edges", edges),
        "features": None if made else _file("features", features),
        "labels": _file("labels", labels),
    }
    whole = None if path is None else _existing(path)
    if whole is not None and whole.suffix.lower() in (".npz", ".safetensors") and not whole.is_dir():
        beside = [purpose for purpose, file in given.items() if file is not None]
        if beside:
            raise InputError(str(whole), "the file", "alone", got=f"{' and '.join(beside)} beside it", verb="stand")
        if whole.suffix.lower() == ".npz":
            return read_npz(whole, features=made, missing_features=missing_features, unlabelled=unlabelled)
        return read_saved(whole, features=made, missing_features=missing_features)
    sources = _sources(whole, given, made is not None)

    matrix = sources.features is not None and sources.features.suffix.lower() in (".npy", ".npz")
    feature_table = None if sources.features is None or matrix else open_table(sources.features)
    label_table = None if sources.labels is None else open_table(sources.labels)

    def node_table(table: Table, others: list[Table | None], labelled: bool, values: bool = True) -> NodeTable:
        return read_node_table(
            table,
            node_id=None if sources.graphml and table is sources.nodes else meant(node_id, table, others),
            label=meant(label, table, others),
            label_elsewhere=labelled,
            ignore=ignore,
            categorical=categorical,
            header=header,
            values=values,
        )

    # Ids and labels may come with the graph itself (GraphML), or from a nodes table whose features are not asked for.
    own = found = table = None
    labelled = label_table is not None
    if sources.nodes is not None:
        unused = made is not None or sources.features is not None
        own = node_table(sources.nodes, [feature_table, label_table], labelled, values=not unused)
        labelled = labelled or own.labels is not None
        table = own.features
    if feature_table is not None:
        found = node_table(feature_table, [sources.nodes, label_table], labelled)
        table = found.features
    elif sources.features is not None:
        table = read_feature_file(sources.features)
    known = None if table is None else table.ids
    edge_list = read_edges(sources.edges, source=source, target=target, weight=weight, header=header, known=known)
    column = next((nodes.labels for nodes in (found, own) if nodes is not None and nodes.labels is not None), None)
    if label_table is not None:
        others = [sources.nodes, feature_table]
        column = read_labels(
            label_table,
            node_id=meant(node_id, label_table, others),
            label=meant(label, label_table, others),
            header=header,
            known=known or edge_list.ids,
            expected_rows=table.rows if table is not None and table.ids is None else None,
        )
    return assemble(
        sources.name,
        edge_list,
        made or table,
        column,
        nodes=None if own is None else own.features.ids,
        missing_features=missing_features,
        unlabelled=unlabelled,
    )


@dataclass(frozen=True)
class _Sources:
    """Where the parts are. ``nodes`` is a table beside the features: that of GraphML, or one for ids and labels alone."""

    name: str
    edges: Table
    nodes: Table | None
    features: Path | None
    labels: Path | None
    graphml: bool = False


def _sources(whole: Path | None, given: dict[str, Path | None], made: bool) -> _Sources:
    edges, features, labels = given["edges"], given["features"], given["labels"]
    if whole is not None and whole.is_dir():
        name = whole.resolve().name
        edges = edges or find_file(whole, EDGES)
        features = features or find_file(whole, FEATURES)
        labels = labels or find_file(whole, LABELS)
        if edges is None:
            raise InputError(
                str(whole), "the folder", f"{', '.join(EDGES[:-1])} or {EDGES[-1]}", got=str(_listing(whole)), verb="hold"
            )
    elif whole is not None and whole.suffix.lower() == ".graphml":
        if edges is not None:
            raise InputError(str(whole), "edges", "from one place", got=f"{edges} beside a graph", verb="come")
        edge_table, node_table = read_graphml(whole)
        return _Sources(whole.stem, edge_table, node_table, features, labels, graphml=True)
    else:
        if whole is not None and edges is not None:
            raise InputError(str(whole), "edges", "from one place", got=f"{edges} beside an edge table", verb="come")
        edges = edges or whole
        if edges is None:
            raise InputError(str(_OWNER), "path or edges", "given", got="neither")
        name = edges.stem
    nodes = None
    if made and features is not None:
        nodes = open_table(features) if features.suffix.lower() in _TABLE_SUFFIXES else None
        features = None
    return _Sources(name, open_table(edges), nodes, features, labels)


def _existing(path: PathLike) -> Path:
    found = Path(path).expanduser()
    if not found.exists():
        raise InputError(str(_OWNER), "path", "a folder or file that exists", str(path))
    if found.is_dir() or found.suffix.lower() in (*_TABLE_SUFFIXES, *WHOLE):
        return found
    hint = ""
    if found.suffix.lower() in (".pt", ".pth", ".pkl", ".pickle"):
        hint = " Such files can run code when they are read; write the Data with chebnet2d.data.own_graph.write_graph instead."
    raise InputError(
        str(_OWNER),
        "path",
        f"a folder, an edge table ({', '.join(TABLES)}) or a graph ({', '.join(WHOLE)})",
        got=f"{str(path)!r}.{hint}",
    )


def _file(purpose: str, path: PathLike | None) -> Path | None:
    if path is None:
        return None
    found = Path(path).expanduser()
    if not found.is_file():
        hint = ""
        if purpose == "features" and not found.suffix:
            hint = " The words for features without a file are 'degree' and 'identity'."
        raise InputError(str(_OWNER), str(purpose), "a file that exists", got=f"{str(path)!r}.{hint}")
    suffixes = (*_TABLE_SUFFIXES, ".npy", ".npz") if purpose == "features" else _TABLE_SUFFIXES
    if found.suffix.lower() not in suffixes:
        raise InputError(str(_OWNER), str(purpose), f"a file of the kind {', '.join(suffixes)}", str(path))
    return found


def _listing(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir())
    return (", ".join(names[:6]) + (", ..." if len(names) > 6 else "")) or "an empty folder"
