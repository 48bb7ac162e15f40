"""Splits of the labelled nodes into train, validation and test, one file per idea. New files are found."""

from chebnet2d._registry import import_modules
from chebnet2d.data.splits.kinds import SPLIT_KINDS, labelled_nodes, labels_of, make_split, split, split_kind, usual_split
from chebnet2d.data.splits.parts import PARTS, Split
from chebnet2d.data.splits.report import parts_without_classes, split_report

import_modules(__name__)

__all__ = [
    "PARTS",
    "SPLIT_KINDS",
    "Split",
    "labelled_nodes",
    "labels_of",
    "make_split",
    "parts_without_classes",
    "split",
    "split_kind",
    "split_report",
    "usual_split",
]
