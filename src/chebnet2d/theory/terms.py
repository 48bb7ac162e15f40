"""A sum of paradigms, and its shape after equivalent terms are merged.

Filters add up, so that I + I is one I, III + III is one III, and I + III is III. Every sum is therefore one of

    everything                            with a 2-D term
    base + r terms of Paradigm II         base: nothing, I or III
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chebnet2d._checks import InputError, integer, one_of

NAMES = ("I", "II", "III", "2d", "rank")


@dataclass(frozen=True)
class Terms:
    """The terms as they were asked for; ``rank`` is the r of every term "rank"."""

    names: tuple[str, ...]
    rank: int | None

    @classmethod
    def parse(cls, paradigm: str | Sequence[str], rank: int | None) -> "Terms":
        """From "II", "I+II+III" or ["II", "II"]."""
        if isinstance(paradigm, str):
            parts: list[str] = [part.strip() for part in paradigm.split("+")]
        elif isinstance(paradigm, Sequence) and paradigm:
            parts = list(paradigm)
        else:
            raise InputError("construct", "paradigm", "a name, a sum of names or a list of names", paradigm)
        for part in parts:
            one_of("construct", "paradigm", part, NAMES)
        if (rank is None) == ("rank" in parts):
            got = f"rank={rank} with {'+'.join(parts)!r}"
            raise InputError("construct", "rank", "given with a term 'rank' and only with one", got=got)
        if rank is not None:
            integer("construct", "rank", rank, 1)
        return cls(tuple(parts), rank)

    @property
    def base(self) -> str:
        """The term that contains all other linear ones; "" if all are of Paradigm II."""
        return next((name for name in ("2d", "III", "I") if name in self.names), "")

    @property
    def total_rank(self) -> int:
        """Terms of Paradigm II, with r for each "rank"."""
        return self.names.count("II") + self.names.count("rank") * (self.rank or 0)

    @property
    def square(self) -> bool:
        """True where a term has no map between channels, so that Z must have as many columns as F."""
        return "I" in self.names or "III" in self.names

    def __str__(self) -> str:
        return "+".join(f"rank {self.rank}" if name == "rank" else name for name in self.names)
