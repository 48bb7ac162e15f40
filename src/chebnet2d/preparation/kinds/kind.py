"""A kind of column: fitted once on the nodes of a graph, kept as JSON, applied to the same column of any other graph."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d._registry import Registry


@dataclass(frozen=True)
class Encoded:
    """``values``: N x W float32, a numpy array or a scipy CSR matrix. The counts are of cells."""

    values: Any
    gaps: int = 0
    unread: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class ColumnKind(ABC):
    """``name``: of the column. Fields are numbers, words and lists of these: they go to JSON as they are."""

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def features(self) -> list[str]:
        """The names of the columns of x that it becomes."""

    @abstractmethod
    def encode(self, array: Any) -> Encoded:
        """``array``: the column of N nodes."""

    @property
    @abstractmethod
    def became(self) -> str:
        """In words, for people."""

    def absent(self, rows: int) -> Any:
        """The column of a graph that does not have it: gaps."""
        import pyarrow as pa

        return pa.nulls(rows)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


KINDS: Registry[type[ColumnKind]] = Registry("kind of column")


def column_from_json(facts: Any) -> ColumnKind:
    """Of what ``to_json`` gave. Nothing is run that the file names: a kind is one of the registered ones."""
    if not isinstance(facts, Mapping) or not isinstance(facts.get("kind"), str) or facts["kind"] not in KINDS:
        raise InputError("Preparation", "a column", f"of a kind among {', '.join(KINDS)}", facts)
    kind = KINDS[facts["kind"]]
    for field in fields(kind):
        if not _fits(facts.get(field.name), field.type):
            what = f"{field.name} of a column of the kind {kind.kind!r}"
            raise InputError("Preparation", what, "as it was written", facts.get(field.name))
    return kind(**{field.name: facts[field.name] for field in fields(kind)})


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value from JSON is a text, a truth value, a whole number, a finite number or a list of these, as the field is."""
    if kind in (Sequence[float], Sequence[str]):
        return isinstance(value, list) and all(_fits(one, float if kind == Sequence[float] else str) for one in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return type(value) is kind


def with_indicator(values: Any, gap: Any, indicated: bool) -> Any:
    """N x W float32 and, where the training graph had gaps, one more column that is 1 for a gap."""
    values = values.reshape(len(values), -1)
    return (np.column_stack([values, gap]) if indicated else values).astype(np.float32)
