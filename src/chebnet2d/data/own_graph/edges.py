"""The edge table: two id columns, an optional weight."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.columns import WEIGHT_NAMES, find, find_edges, named, plain, settle_header
from chebnet2d.data.own_graph.csv_table import CsvTable, is_number
from chebnet2d.data.own_graph.edge_stream import stream_ids
from chebnet2d.data.own_graph.node_ids import IdColumns, encode
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import Table


@dataclass(frozen=True)
class Edges:
    """``ids`` has the sources and then the targets; ``weight`` is float32 or ``None``."""

    ids: IdColumns
    weight: Any


def read_edges(table: Table, options: ReadOptions, known: IdColumns | None = None, *, on_disk: bool = False) -> Edges:
    """``known`` are the ids of another file: they tell a first line with an edge from a header of unknown names.

    ``on_disk``: read in chunks, which stay on disk.
    """
    source, target, weight = options.source, options.target, options.weight
    if (source is None) != (target is None):
        raise InputError(table.label, "source and target", "named together", got=f"source={source!r} and target={target!r}")
    if table.width < 2:
        raise InputError(table.label, "an edge table", "at least two columns", got=f"{table.width}: {table.names}", verb="have")
    settle_header(table, options.header, (source, target, weight), lambda csv: _guess_header(csv, known))
    columns = _id_columns(table, source, target)
    third = _weight_column(table, weight, columns)
    if on_disk and third is not None:
        rule, hint = "no weights, to be read in chunks", "Leave the column out, or give more by {}."
        raise InputError(
            table.label, "edges", rule, got=f"the column {table.names[third]!r}", hint=hint, verb="have", mentions=("memory",)
        )
    if on_disk:
        return Edges(stream_ids(table, columns), None)
    if third is None:
        return Edges(encode(table, columns, table.read(columns, text=columns), "id"), None)
    *ends, weights = table.read((*columns, third), text=columns, numbers=(third,))
    ids = encode(table, columns, ends, "id")
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused below
        numbers = np.asarray(weights.fill_null(float("nan"))).astype(np.float32)
    bad = ~(np.isfinite(numbers) & (numbers >= 0))
    if bad.any():
        raise table.bad_cell(int(bad.argmax()), third, "weight", "a finite number >= 0")
    return Edges(ids, numbers)


def _guess_header(table: CsvTable, known: IdColumns | None) -> bool:
    first, second = table.head
    if find_edges(table) is not None:
        return True
    if _some_edge_name(table) and not all(is_number(field) for field in first[:2]):
        return True  # half a header is a header: _id_columns asks for the other half
    if any(is_number(field) for field in first[:3]):
        return False
    if len(second) == len(first) and any(is_number(field) for field in second[:3]):
        return True
    # Names in the first line and names in the second. It is an edge if one of its ends is mentioned anywhere else.
    table.use_header(False)
    if known is not None and any(_contains(known.values.cast("string"), field.strip()) for field in first[:2]):
        return False
    for number, batch in enumerate(table.batches((0, 1))):
        columns = [column.slice(0 if number else 1) for column in batch]
        if any(_contains(column, field.strip()) for column in columns for field in first[:2]):
            return False
    return True


def _contains(strings: Any, text: str) -> bool:
    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(strings), text)).as_py())


def _some_edge_name(table: Table) -> bool:
    source, target = (plain(name) for name in table.names[:2])
    return source in ("source", "src", "from", "node1") or target in ("target", "dst", "to", "node2")


def _id_columns(table: Table, source: str | None, target: str | None) -> tuple[int, int]:
    if source is not None and target is not None:
        pair = named(table, "source", source), named(table, "target", target)
        if pair[0] == pair[1]:
            raise InputError(table.label, "source and target", "two columns", got=f"{source!r} for both")
        return pair
    found = find_edges(table) if table.has_header else None
    if found is None and table.has_header and _some_edge_name(table):
        hint = "Name them by {} and {}."
        got = ", ".join(repr(name) for name in table.names[:8])
        rule = "both ends of an edge (such as source and target)"
        raise InputError(table.label, "the header", rule, got=got, hint=hint, mentions=("source", "target"), verb="name")
    return found or (0, 1)


def _weight_column(table: Table, weight: str | None, ids: tuple[int, int]) -> int | None:
    if weight is not None:
        return named(table, "weight", weight)
    if table.has_header:
        return find(table, WEIGHT_NAMES, without=ids)
    assert isinstance(table, CsvTable)
    return 2 if table.width == 3 and ids == (0, 1) and is_number(table.head[0][2]) else None
