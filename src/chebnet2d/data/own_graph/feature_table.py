"""A table about the nodes: ids, features and labels."""

import itertools
from collections.abc import Mapping, Sequence

from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.columns import LABEL_NAMES, find_id, find_label, named, plain, settle_header
from chebnet2d.data.own_graph.csv_table import CsvTable, is_number
from chebnet2d.data.own_graph.feature_blocks import Block
from chebnet2d.data.own_graph.feature_columns import feature_block
from chebnet2d.data.own_graph.features import Features
from chebnet2d.data.own_graph.labels import Labels
from chebnet2d.data.own_graph.node_ids import encode_once
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.problems import Problems
from chebnet2d.data.own_graph.raw_columns import raw_columns
from chebnet2d.data.own_graph.roles import groups_of, masks_of, role_columns, times_of
from chebnet2d.data.own_graph.table import Table, is_numeric, shown

NodeTable = tuple[Features, Labels | None]
"""The features have no blocks if the table has ids and labels alone; the labels are None without a label column."""


def read_node_table(table: Table, options: ReadOptions, *, label_elsewhere: bool = False, values: bool = True) -> NodeTable:
    """Ids, features and labels from one table.

    ``label_elsewhere``: a label column here would be one too many. ``values=False``: the features are not wanted.
    """
    node_id, label = options.node_id, options.label
    settle_header(table, options.header, (node_id, None if label_elsewhere else label), _guess_header)
    left_out = [named(table, "ignore", name) for name in options.ignore if values or name in table.names]
    ids = named(table, "node_id", node_id) if node_id is not None else find_id(table) if table.has_header else None
    labels = _label_column(table, label, label_elsewhere, left_out)
    if labels is not None and labels == ids:
        raise InputError(table.label, "node_id and label", "two columns", got=f"{table.names[labels]!r} for both")
    roles = role_columns(table, options)
    if labels is not None and labels in roles.values():
        raise InputError(table.label, "labels and parts", "two columns", got=f"{table.names[labels]!r} for both")
    no_features = (ids, labels, *left_out, *(i for role, i in roles.items() if role != "time"))
    wanted = [i for i in range(table.width) if i not in no_features] if values else []
    features, found = node_table_at(table, ids, labels, wanted, options)
    features.roles = _roles(table, roles)
    return features, found


def _roles(table: Table, roles: Mapping[str, int]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for role, i in roles.items():
        (array,) = table.read((i,), text=(i,) if role == "split" else ())
        found |= masks_of(table, i, array) if role == "split" else {}
        if role in ("time", "group"):
            found[role] = (times_of if role == "time" else groups_of)(table, i, array)
    return found


def node_table_at(table: Table, ids: int | None, labels: int | None, values: Sequence[int], options: ReadOptions) -> NodeTable:
    """The same, with the columns given by position."""
    text = [i for i in (ids, labels) if i is not None]
    wanted = [*text, *values]
    arrays = dict(zip(wanted, table.read(wanted, text=text), strict=True)) if wanted else {}
    rows = len(arrays[wanted[0]]) if wanted else 0
    if options.preprocess != "none":
        problems = Problems()
        id_column = None if ids is None else problems.of(encode_once, table, ids, arrays[ids])
        raw, wrong = raw_columns(table, values, arrays)
        problems.found += wrong
        found = None if labels is None else Labels(table, labels, arrays[labels], id_column)
        if problems.found and found is not None:  # else labels are looked at when the graph is put together
            problems.of(found.classes, options.unlabelled)
        problems.told()
        return Features(table.label, rows, [], ids=id_column, raw=raw), found
    id_column = None if ids is None else encode_once(table, ids, arrays[ids])
    blocks: list[Block] = []
    names: list[str] = []
    for _, group in itertools.groupby(values, lambda i: -1 if is_numeric(arrays[i].type) else i):
        block, block_names = feature_block(table, list(group), arrays, options.categorical)
        blocks.append(block)
        names += block_names
    features = Features(table.label, rows, blocks, ids=id_column, names=names if table.has_header else None)
    return features, None if labels is None else Labels(table, labels, arrays[labels], id_column)


def _guess_header(table: CsvTable) -> bool:
    first = table.head[0]
    if find_id(table) is not None or any(plain(name) in LABEL_NAMES for name in table.names):
        return True
    if table.width >= 3 and table.names == [str(i) for i in range(table.width)]:
        return True  # what pandas writes for a matrix
    numbers = [is_number(field) for field in first]
    if not any(numbers) or all(numbers):
        return not any(numbers)
    hint = "Say by {} whether there is one; name the id column by {}, by its position ('0') if there is no header."
    got = f"words and numbers: {shown(table.delimiter.join(first))}"
    raise InputError(f"{table.label}, line 1", "a header", "told from a row", got=got, hint=hint, mentions=("header", "node_id"))


def _label_column(table: Table, label: str | None, elsewhere: bool, left_out: Sequence[int]) -> int | None:
    if label is not None and (not elsewhere or label in table.names):
        found: int | None = named(table, "label", label)
    else:
        found = find_label(table) if table.has_header else None
    if found is None or found in left_out:
        return None
    if elsewhere:
        got = f"the column {table.names[found]!r} beside a labels file"
        hint = "Leave the column out by {}, or do without the file."
        raise InputError(table.label, "labels", "from one place", got=got, hint=hint, mentions=("ignore",), verb="come")
    return found
