"""Datasets of the catalogue, graphs of the user's own, graphs that need no file; splits and transforms."""

from chebnet2d.data.any_graph import load_graph
from chebnet2d.data.catalogue import CATALOGUE, Entry, Statistics, find_entry
from chebnet2d.data.checking import Check, check
from chebnet2d.data.counts import statistics
from chebnet2d.data.dataset import dataset_digest, make_data, num_classes
from chebnet2d.data.describing import class_balance, describe
from chebnet2d.data.embedded import csbm, digits
from chebnet2d.data.fetching import fetch
from chebnet2d.data.folders import cache_folder, data_root
from chebnet2d.data.generated import generate
from chebnet2d.data.loading import available, load
from chebnet2d.data.own_graph import (
    ReadOptions,
    from_networkx,
    from_pyg,
    from_scipy,
    from_tables,
    read_graph,
    to_networkx,
    to_scipy,
    write_graph,
)
from chebnet2d.data.raw_formats import RAW_FORMATS, Source, raw_format
from chebnet2d.data.splits import (
    SPLIT_KINDS,
    Split,
    labelled_nodes,
    make_split,
    parts_without_classes,
    split,
    split_kind,
    split_report,
    usual_split,
)
from chebnet2d.preparation import (
    TRANSFORMS,
    Preparation,
    apply_transform,
    largest_component,
    preparation_lines,
    row_normalize_features,
    scale_of,
    standardize,
)

__all__ = [
    "CATALOGUE",
    "RAW_FORMATS",
    "SPLIT_KINDS",
    "TRANSFORMS",
    "Check",
    "Entry",
    "Preparation",
    "ReadOptions",
    "Source",
    "Split",
    "Statistics",
    "apply_transform",
    "available",
    "cache_folder",
    "check",
    "class_balance",
    "csbm",
    "data_root",
    "dataset_digest",
    "describe",
    "digits",
    "fetch",
    "find_entry",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "from_tables",
    "generate",
    "labelled_nodes",
    "largest_component",
    "load",
    "load_graph",
    "make_data",
    "make_split",
    "num_classes",
    "parts_without_classes",
    "preparation_lines",
    "raw_format",
    "read_graph",
    "row_normalize_features",
    "scale_of",
    "split",
    "split_kind",
    "split_report",
    "standardize",
    "statistics",
    "to_networkx",
    "to_scipy",
    "usual_split",
    "write_graph",
]
