"""How the files of a graph are read, beside which files they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chebnet2d._checks import one_of


@dataclass(frozen=True)
class ReadOptions:
    """Columns by name (or by position, as '0', where there is no header), and what odd values mean.

    Attributes:
        source, target, weight: columns of the edge table, where their names are not recognised.
        node_id, label: columns of the features and labels tables.
        ignore: columns of the features table to leave out.
        missing_features: what a missing value, or a node without a row, becomes: "error", "zero" or "mean" (of its column).
        categorical: what a column of words becomes: "error" or "one-hot".
        unlabelled: a label that means "none", beside an empty field.
        header: whether CSV files begin with a line of names, where the files leave doubt.
    """

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    node_id: str | None = None
    label: str | None = None
    ignore: Sequence[str] = ()
    missing_features: str = "error"
    categorical: str = "error"
    unlabelled: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        one_of("ReadOptions", "missing_features", self.missing_features, ("error", "zero", "mean"))
        one_of("ReadOptions", "categorical", self.categorical, ("error", "one-hot"))

    @classmethod
    def of(cls, options: "ReadOptions | None", changes: Mapping[str, Any]) -> "ReadOptions":
        """The given options, or the defaults, with the fields that were named one by one on top."""
        for name in changes:
            one_of("read_graph", "an option", name, [field.name for field in fields(cls)])
        return replace(options or cls(), **changes)
