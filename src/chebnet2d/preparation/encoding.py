"""All columns of a graph's nodes together: chosen and fitted on one graph, applied to every other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.preparation.choosing import choose_columns
from chebnet2d.preparation.joining import joined
from chebnet2d.preparation.kinds import ColumnKind, Encoded, column_from_json


@dataclass(frozen=True)
class Encoding:
    """``columns``: in the order of x. ``sparse``: width of a sparse matrix that is taken as it is; without columns then."""

    columns: Sequence[ColumnKind] = ()
    sparse: int | None = None

    @classmethod
    def fit(cls, raw: Any, mode: str) -> "Encoding":
        """``raw``: an Arrow table or an N x F tensor; a sparse one stays as it is, since scaling would make it dense."""
        if isinstance(raw, Tensor) and raw.layout != torch.strided:
            return cls(sparse=int(raw.shape[1]))
        return cls(choose_columns(_columns(raw), mode))

    @property
    def features(self) -> list[str]:
        return [name for column in self.columns for name in column.features]

    def apply(self, raw: Any) -> tuple[Tensor, dict[str, Encoded]]:
        """(x, the counts of each column). Columns are found by name; one that is not there is all gaps, others do not matter."""
        if self.sparse is not None:
            if not isinstance(raw, Tensor) or raw.shape[1] != self.sparse:
                got = f"{tuple(raw.shape)}" if hasattr(raw, "shape") else "a table"
                raise InputError("predict", "the features", f"a matrix of {self.sparse} columns, as the model knows", got=got)
            return raw, {}
        if isinstance(raw, Tensor) and raw.shape[1] != len(self.columns):
            rule = f"{len(self.columns)} columns, as the model was trained on"
            raise InputError("predict", "the features", rule, got=str(raw.shape[1]), verb="have")
        there = dict(_columns(raw))
        rows = raw.shape[0] if isinstance(raw, Tensor) else raw.num_rows
        used = [column.name for column in self.columns if column.features]
        if used and not any(name in there for name in used):
            wanted = ", ".join(repr(name) for name in used)
            got = ", ".join(repr(name) for name in list(there)[:8]) or "none"
            raise InputError("predict", "the features", f"some of the model's columns ({wanted[:200]})", got=got, verb="have")
        encoded = {one.name: one.encode(there.get(one.name, one.absent(rows))) for one in self.columns}
        return joined([one.values for one in encoded.values() if one.values.shape[1]], rows), encoded

    def to_json(self) -> dict[str, Any]:
        return {"columns": [column.to_json() for column in self.columns], "sparse": self.sparse}

    @classmethod
    def from_json(cls, facts: Any) -> "Encoding":
        if not isinstance(facts, dict) or not isinstance(facts.get("columns"), list):
            raise InputError("Preparation", "encoding", "a table with columns", facts)
        return cls([column_from_json(column) for column in facts["columns"]], facts.get("sparse"))


def _columns(raw: Any) -> Iterator[tuple[str, Any]]:
    """Names and columns. Those of a matrix are named by their position."""
    if isinstance(raw, Tensor):
        dense = raw.to_dense() if raw.layout != torch.strided else raw
        for k in range(dense.shape[1]):
            yield str(k), dense[:, k].double().numpy()
        return
    for name, column in zip(raw.column_names, raw.columns, strict=True):
        yield name, column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
