"""Which column is which: by the names that people use, or by the name the user gave."""

import re
from collections.abc import Callable, Sequence

import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.csv_table import CsvTable
from chebnet2d.data.own_graph.table import Table
from chebnet2d.preparation.choosing import named_like_id

_STEMS = "source/target src/dst from/to u/v node1/node2 id1/id2 source_id/target_id from_id/to_id"
EDGE_NAMES = [pair.split("/") for pair in f"{_STEMS} source/destination sender/receiver citing/cited".split()]
WEIGHT_NAMES = ("weight", "w", "edge_weight", "weights")
ID_NAMES = ("id", "node_id", "nodeid", "node", "ids", "node_ids", "vertex")
OTHER_ID_NAMES = ("name", "index", "unnamed:_0")
LABEL_NAMES = ("label", "labels", "class", "y")


def plain(name: str) -> str:
    """``Node-1``, ``node 1`` and ``node_1`` are ``node1``; other names in lower case with underscores."""
    return re.sub(r"_(?=\d+\Z)", "", re.sub(r"[\s\-]+", "_", name.strip().lower()))


def named(table: Table, argument: str, name: str) -> int:
    """The position of the column that the user asked for."""
    if name in table.names:
        if table.names.count(name) > 1:
            raise InputError(table.label, argument, f"one column, but {name!r} occurs more than once in the header", verb="name")
        return table.names.index(name)
    listed = ", ".join(repr(n) for n in table.names[:12]) + (", ..." if table.width > 12 else "")
    kind = "columns" if table.has_header else "columns, by position, as there is no header"
    raise InputError(table.label, argument, f"one of its {kind} ({listed})", name)


def column_for(name: str | None, table: Table, tables: Sequence[Table | None]) -> str | None:
    """The name for this table, or None if it is meant for another of the tables: those that have such a column.

    If none has one, all are meant, so that the first one that is read reports it.
    """
    meant = [other for other in tables if other is not None and name in header_of(other)]
    return name if name is None or table in meant or not meant else None


def header_of(table: Table) -> list[str]:
    return [field.strip() for field in table.head[0]] if isinstance(table, CsvTable) else table.names


def find(table: Table, names: Sequence[str], without: Sequence[int] = ()) -> int | None:
    """The first column that has one of the names, the names in order of preference."""
    have = {plain(name): i for i, name in reversed(list(enumerate(table.names))) if i not in without}
    return next((have[name] for name in names if name in have), None)


def find_edges(table: Table) -> tuple[int, int] | None:
    for pair in EDGE_NAMES:
        source, target = (find(table, (name,)) for name in pair)
        if source is not None and target is not None:
            return source, target
    return None


def find_id(table: Table) -> int | None:
    """An id column by its name; a first column without a name is what pandas writes for its index.

    ``person_id``, ``userId`` and the like count if no id occurs twice: a ``school_id`` says something about many nodes.
    """
    found = find(table, ID_NAMES)
    if found is None:
        found = next((i for i, name in enumerate(table.names) if named_like_id(name) and _distinct(table, i)), None)
    if found is None:
        found = find(table, OTHER_ID_NAMES)
    if found is None and table.width > 1 and table.names[0] == "":
        return 0
    return found


def _distinct(table: Table, column: int) -> bool:
    (values,) = table.read((column,), text=(column,))
    return values.null_count == 0 and len(pc.unique(values)) == len(values)


def find_label(table: Table) -> int | None:
    """A label column by its name. ``y`` beside ``x`` is a coordinate."""
    names = LABEL_NAMES if find(table, ("x",)) is None else LABEL_NAMES[:-1]
    return find(table, names)


def settle_header(table: Table, header: bool | None, asked: Sequence[str | None], guess: Callable[[CsvTable], bool]) -> None:
    """Whether the first line of a CSV file is a header: by the user's word, by a name that was asked for, or by a guess."""
    if isinstance(table, CsvTable):
        if header is None and any(name is not None and not name.isdigit() for name in asked):
            header = True
        table.use_header(guess(table) if header is None else header)
