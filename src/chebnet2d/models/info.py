"""What a method is, in words: shown by ``chebnet2d models`` and checked by the conformance suite."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

PARADIGM_NAMES = ("I", "II", "III", "2d", "-")


@dataclass(frozen=True)
class MethodInfo:
    """Facts about a method; those of this package's own are in methods.toml.

    ``paradigm``: "I" (one filter), "II" (one filter, then a map between channels), "III" (one filter per channel), "2d" (one
    filter for each pair of channels), or "-" where the method is no linear spectral filter.
    ``formula``: plain text, every symbol named. ``departures``: where this code does not do what the paper or its repository
    does, and why; empty where it does the same.
    """

    title: str
    paradigm: str
    basis: str
    formula: str
    citation: str
    departures: str = ""

    def __post_init__(self) -> None:
        if self.paradigm not in PARADIGM_NAMES:
            raise ValueError(f"MethodInfo: paradigm must be one of {PARADIGM_NAMES}, got {self.paradigm!r}.")
        for name in ("title", "basis", "formula", "citation"):
            if not getattr(self, name).strip():
                raise ValueError(f"MethodInfo: {name} must not be empty.")


_TABLES = tomllib.loads(Path(__file__).with_name("methods.toml").read_text(encoding="utf-8"))
SHIPPED_INFO = {name: MethodInfo(**facts) for name, facts in _TABLES.items()}
