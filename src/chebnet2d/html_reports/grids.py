"""What a page shows as tables, whatever it is about: the template draws every grid alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Value:
    """A cell. ``order``: the number that it is sorted by; without one, its text.

    ``below``: a second line. ``tip``: what is told when the cell is pointed at or focused. ``looks``: a class of the style sheet.
    """

    text: str
    order: float | None = None
    below: str = ""
    tip: Facts = ()
    looks: str = ""


@dataclass(frozen=True)
class Grid:
    """A table: the first value of each row is its header. ``sorts``: by any column; ``filters``: by words in rows and columns."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    sorts: bool = True
    filters: bool = False
    legend: str = ""
    numeric: Sequence[bool] = field(init=False)

    def __post_init__(self) -> None:
        columns = [[row[c] for row in self.rows] for c in range(len(self.columns))]
        numbers = [any(value.order is not None for value in column) for column in columns]
        object.__setattr__(self, "numeric", numbers)


def number(value: float | None, text: str | None = None, **more: Any) -> Value:
    """A number, by which its column is sorted; nothing where there is none."""
    if value is None or value != value:
        return Value("", **more)
    return Value(shown(value) if text is None else text, float(value), **more)


def percent(value: float | None, **more: Any) -> Value:
    return number(value, None if value is None else f"{100 * value:.1f} %", **more)


def shown(value: Any) -> str:
    """A setting for people: 0.0005, 1,234, yes, a, b."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return str(value)


def facts_of(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Names and values of a table, those of inner tables under names like ``groups.filter.lr``."""
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            found += facts_of(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", shown(value)))
    return found


def facts_of_all(every: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The same for several tables: each value once, those of one name side by side."""
    found: dict[str, dict[str, None]] = {}
    for values in every:
        for name, text in facts_of(values):
            found.setdefault(name, {})[text] = None
    return [(name, " | ".join(texts)) for name, texts in found.items()]
