"""What a graph has in other ways than the one that a preparation was fitted on, counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chebnet2d.preparation.encoding import Encoding


@dataclass(frozen=True)
class Notes:
    """Cells by column: ``gaps``, ``unread`` (not what the column holds) and ``unknown`` (categories); columns; sentences."""

    gaps: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)
    absent: Sequence[str] = ()
    extra: Sequence[str] = ()
    drift: Sequence[str] = ()

    @classmethod
    def of(cls, encoding: Encoding, encoded: Mapping[str, Any], there: Sequence[str]) -> "Notes":
        wanted = [column.name for column in encoding.columns if column.features]
        known = {column.name for column in encoding.columns}
        absent = [name for name in wanted if there and name not in there]

        def counted(what: str) -> dict[str, int]:
            counts = {name: getattr(encoded[name], what) for name in wanted if name in encoded and name not in absent}
            return {name: count for name, count in counts.items() if count}

        extra = [name for name in there if name not in known]
        return cls(counted("gaps"), counted("unread"), counted("unknown"), absent, extra)

    def line(self) -> str:
        """One line for people; "" where there is nothing to say."""
        parts = [
            _cells("gap", self.gaps),
            _cells("unknown category", self.unknown, "unknown categories"),
            _cells("value that could not be read", self.unread, "values that could not be read"),
            f"no column {_names(self.absent)} (taken as gaps)" if self.absent else "",
            f"{_names(self.extra)} not used" if self.extra else "",
        ]
        return "; ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        cells = {"gaps": dict(self.gaps), "unread": dict(self.unread), "unknown": dict(self.unknown)}
        return {**cells, "absent": list(self.absent), "extra": list(self.extra), "drift": list(self.drift)}

    def lines(self) -> list[str]:
        """For people: what was counted in one line, then the drift."""
        return [*([f"features: {self.line()}"] if self.line() else []), *self.drift]


def _cells(word: str, counts: Mapping[str, int], plural: str = "") -> str:
    total = sum(counts.values())
    if not total:
        return ""
    columns = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:5]) + (", ..." if len(counts) > 5 else "")
    return f"{total} {word if total == 1 else plural or word + 's'} ({columns})"


def _names(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
