"""A graph from tables in memory: pandas, polars, DuckDB, Arrow, and all else that speaks the Arrow PyCapsule interface."""

from typing import Any

import pyarrow as pa
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.assemble import assemble
from chebnet2d.data.own_graph.columns import find_id
from chebnet2d.data.own_graph.edges import read_edges
from chebnet2d.data.own_graph.feature_table import read_node_table
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.parquet_table import plain_array
from chebnet2d.data.own_graph.problems import Problems
from chebnet2d.data.own_graph.table import MemoryTable
from chebnet2d.preparation import MADE_FEATURES

_OWNER = "from_tables"
_INDEX = "__index_level_0__"


def from_tables(
    nodes: Any = None,
    edges: Any = None,
    *,
    id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    features: str | None = None,
    name: str = "tables",
    **fields: Any,
) -> Data:
    """A ``Data`` from two tables in memory, by the rules of ``read_graph``; nodes are sorted by id.

    Args:
        nodes: a row for each node: id, columns of all kinds, and perhaps a label. May be left out with ``features``.
        edges: two columns of ids, and perhaps a weight.
        id, label, split: columns of ``nodes``, where their names are not recognised; ``split`` has train, val or test.
        features: "degree" or "identity" instead of the columns.
        fields: fields of ``ReadOptions``, such as ``source``, ``ignore``, ``time_column`` or ``preprocess``.

    A table is any object with ``__arrow_c_stream__``: a frame of pandas or polars, a relation of DuckDB, an Arrow table.

    >>> import pyarrow as pa
    >>> people = pa.table({"who": ["ann", "bob", "cid"], "age": [25, 31, None], "drinks": ["tea", "coffee", None]})
    >>> data = from_tables(people, pa.table({"a": ["ann", "bob"], "b": ["bob", "cid"]}), id="who", label="drinks")
    >>> list(data.node_ids), data.feature_names, data.y.tolist()
    (['ann', 'bob', 'cid'], ['age', 'age is missing'], [1, 0, -1])
    """
    options = ReadOptions.of(None, {"node_id": id, "label": label, "split_column": split, **fields})
    if features is not None and features not in MADE_FEATURES:
        raise InputError(_OWNER, "features", f"one of {', '.join(map(repr, MADE_FEATURES))}", features)
    edge_table = memory_table("edges", edges)[0]
    table = labels = None
    problems = Problems()
    if nodes is not None:
        node_table, index = memory_table("nodes", nodes)
        if index is not None and id is None and find_id(node_table) is None:
            node_table = index
        table, labels = problems.of(read_node_table, node_table, options, values=features is None) or (None, None)
    found = problems.of(read_edges, edge_table, options, None if table is None else table.ids)
    if problems.found and labels is not None:
        problems.of(labels.classes, options.unlabelled)
    problems.told()
    assert found is not None
    return assemble(name, found, features or table, labels, options, nodes=table if features else None)


def memory_table(argument: str, value: Any) -> tuple[MemoryTable, MemoryTable | None]:
    """An object with ``__arrow_c_stream__`` as a table, and as one with the nameless index of a pandas frame, if it has one.

    Rows are counted from 0.
    """
    if not hasattr(value, "__arrow_c_stream__"):
        rule = "a table (pandas, polars, DuckDB, Arrow: anything with __arrow_c_stream__)"
        raise InputError(_OWNER, argument, rule, value)
    try:
        table = value if isinstance(value, pa.Table) else pa.RecordBatchReader.from_stream(value).read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(_OWNER, argument, "a table that Arrow can read", reason=str(error).splitlines()[0][:200]) from None
    names = [str(column) for column in table.column_names]
    if len(set(names)) < len(names):
        raise InputError(argument, "column names", "", got=", ".join(names), verb="differ")
    columns = {name: plain_array(argument, name, column) for name, column in zip(names, table.columns, strict=True)}
    index = columns.pop(_INDEX, None)
    made = MemoryTable(argument, list(columns), list(columns.values()), _place)
    if index is None:
        return made, None
    return made, MemoryTable(argument, ["index", *columns], [index, *columns.values()], _place)


def _place(row: int) -> str:
    return f"row {row} (from 0)"
