"""One function for every way in which a graph lies on a disk."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.arrays import read_feature_file
from chebnet2d.data.own_graph.assemble import assemble
from chebnet2d.data.own_graph.columns import column_for, header_of
from chebnet2d.data.own_graph.edges import read_edges
from chebnet2d.data.own_graph.feature_table import read_node_table
from chebnet2d.data.own_graph.labels import read_labels
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.problems import Problems
from chebnet2d.data.own_graph.sources import MATRICES, PathLike, Sources, checked_file, checked_path, find_sources
from chebnet2d.data.own_graph.table import Table, open_table
from chebnet2d.data.own_graph.whole_graph import read_npz, read_saved
from chebnet2d.preparation import MADE_FEATURES


def read_graph(
    path: PathLike | None = None,
    *,
    edges: PathLike | None = None,
    features: PathLike | None = None,
    labels: PathLike | None = None,
    edges_on_disk: bool = False,
    options: ReadOptions | None = None,
    **fields: Any,
) -> Data:
    """A torch_geometric ``Data`` from the user's files.

    The result has ``x`` (float32, dense or CSR), ``edge_index`` (the edges as listed), ``edge_weight`` (float32, if there are
    weights), ``y`` (int64, -1 without a label), ``node_ids`` (the user's ids, an array), ``class_names``, ``name``, ``metric``,
    and ``feature_names`` where features have names. Nodes are sorted by id, unless the file numbers them itself.

    Args:
        path: a folder with edges, features (or nodes) and labels; or one .npz, .safetensors or .graphml file; or an edge table.
        edges, features, labels: single files, instead of those of the folder. ``features`` may also be "degree" or "identity".
        edges_on_disk: read the edges of a table in chunks; ``edge_index`` is then a ``ListedEdges``, of which bases are computed
            without ever holding the edges in memory. Edges with weights cannot be read so.
        options: how the files are read.
        fields: single fields of ``ReadOptions``, such as ``label="club"`` or ``missing_features="mean"``.
    """
    options = ReadOptions.of(options, fields)
    made = features if isinstance(features, str) and features in MADE_FEATURES else None
    given = {
        "edges": checked_file("edges", edges),
        "features": None if made else checked_file("features", features),
        "labels": checked_file("labels", labels),
    }
    whole = None if path is None else checked_path(path)
    if whole is not None and whole.suffix.lower() in (".npz", ".safetensors") and not whole.is_dir():
        beside = [purpose for purpose, file in given.items() if file is not None]
        if beside:
            raise InputError(str(whole), "the file", "alone", got=f"{' and '.join(beside)} beside it", verb="stand")
        return (read_npz if whole.suffix.lower() == ".npz" else read_saved)(whole, made, options)
    return _read_tables(find_sources(whole, given, made is not None), made, options, edges_on_disk)


_NAMED = ("node_id", "label", "split_column", "time_column", "group_column")


def _read_tables(sources: Sources, made: str | None, options: ReadOptions, on_disk: bool) -> Data:
    matrix = sources.features is not None and sources.features.suffix.lower() in MATRICES
    feature_table = None if sources.features is None or matrix else open_table(sources.features)
    label_table = None if sources.labels is None else open_table(sources.labels)
    tables = (sources.nodes, feature_table, label_table)
    table = labels = described = None
    problems = Problems()
    # Ids and labels may come with the graph itself (GraphML), or from a nodes table whose features are not asked for.
    if sources.nodes is not None:
        chosen = _options_for(sources.nodes, options, tables)
        if sources.graphml:  # there the ids are no attribute that could be named
            chosen = replace(chosen, node_id=None)
        wanted = made is None and sources.features is None
        elsewhere = label_table is not None
        read = problems.of(read_node_table, sources.nodes, chosen, label_elsewhere=elsewhere, values=wanted)
        table, labels = read or (None, None)
        described = table
    if feature_table is not None:
        elsewhere = label_table is not None or labels is not None
        table, found = problems.of(
            lambda: read_node_table(feature_table, _options_for(feature_table, options, tables), label_elsewhere=elsewhere)
        ) or (None, None)
        labels = found or labels
    elif sources.features is not None:
        table = problems.of(read_feature_file, sources.features)
    known = None if table is None else table.ids
    edges = problems.of(read_edges, sources.edges, options, known, on_disk=on_disk and not sources.graphml)
    if label_table is not None:
        rows = table.rows if table is not None and table.ids is None else None
        ids = known if known is not None or edges is None else edges.ids
        labels = problems.of(
            lambda: read_labels(label_table, _options_for(label_table, options, tables), known=ids, expected_rows=rows)
        )
    if problems.found and labels is not None:  # else they are looked at when the graph is put together
        problems.of(labels.classes, options.unlabelled)
    problems.told()
    assert edges is not None
    return assemble(sources.name, edges, made or table, labels, options, nodes=described)


def _options_for(table: Table, options: ReadOptions, tables: Sequence[Table | None]) -> ReadOptions:
    """The options for one of the tables, without the columns that others have; of lenient ones, without those that none has."""
    found: dict[str, Any] = {name: column_for(getattr(options, name), table, tables) for name in _NAMED}
    if options.lenient:
        there = header_of(table)
        found = {name: column if name == "node_id" or column in there else None for name, column in found.items()}
        return replace(options, **found, ignore=[name for name in options.ignore if name in there])
    return replace(options, **found)
