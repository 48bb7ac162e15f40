"""How the files of a graph are read, beside which files they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d.preparation import MODES


@dataclass(frozen=True)
class ReadOptions:
    """Columns by name (or by position, as '0', where there is no header), and what odd values mean.

    Attributes:
        source, target, weight: columns of the edge table, where their names are not recognised.
        node_id, label: columns of the features and labels tables.
        ignore: columns of the features table to leave out.
        split_column: column with the part of each node: train, val or test. One called "split" is found by itself.
        time_column, group_column: columns for the splits of these names. The time is a feature too, the group is not.
        preprocess: "auto" makes features of all kinds of columns, as docs/own-graph.md says; "standard" and "quantile" scale all
            numbers in that way; "none" takes numbers as they are, and then the two next ones say what the rest becomes.
        missing_features: what a missing value, or a node without a row, becomes: "error", "zero" or "mean" (of its column).
        categorical: what a column of words becomes: "error" or "one-hot".
        unlabelled: a label that means "none", beside an empty field.
        header: whether CSV files begin with a line of names, where the files leave doubt.
        lenient: columns for labels and parts that are named here may be absent, as in a graph that is to be predicted.
    """

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    node_id: str | None = None
    label: str | None = None
    split_column: str | None = None
    time_column: str | None = None
    group_column: str | None = None
    ignore: Sequence[str] = ()
    preprocess: str = "auto"
    missing_features: str = "error"
    categorical: str = "error"
    unlabelled: str | None = None
    header: bool | None = None
    lenient: bool = False

    def __post_init__(self) -> None:
        for name in ("source", "target", "weight", "node_id", "label", "unlabelled"):
            if not isinstance(value := getattr(self, name), str | None):
                raise InputError("ReadOptions", name, "a text", value)
        if not isinstance(self.ignore, list | tuple) or not all(isinstance(name, str) for name in self.ignore):
            raise InputError("ReadOptions", "ignore", "a list of names", self.ignore)
        if not isinstance(self.header, bool | None):
            raise InputError("ReadOptions", "header", "True, False or None", self.header)
        one_of("ReadOptions", "missing_features", self.missing_features, ("error", "zero", "mean"))
        one_of("ReadOptions", "categorical", self.categorical, ("error", "one-hot"))
        one_of("ReadOptions", "preprocess", self.preprocess, MODES)
        for name in ("missing_features", "categorical"):
            if self.preprocess != "none" and getattr(self, name) != "error":
                hint = "Else gaps are filled and words are encoded without a word. Say 'none' by {}."
                raise InputError(
                    "ReadOptions", name, "with raw features", getattr(self, name), hint, verb="come", mentions=("preprocess",)
                )

    @classmethod
    def of(cls, options: "ReadOptions | None", changes: Mapping[str, Any]) -> "ReadOptions":
        """The given options, or the defaults, with the fields that were named one by one on top."""
        for name in changes:
            one_of("read_graph", "an option", name, [field.name for field in fields(cls)])
        return replace(options or cls(), **changes)

    def typed(self) -> dict[str, Any]:
        """The fields that are not as they are by default, by name."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}
