"""A line of the report: a claim, what the paper says, what holds, and the number that shows it with its bound."""

import math
import operator
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

VERDICTS = ("holds", "fails", "corrected", "added")
"""On the paper's statement: it holds as printed; it fails; a corrected one holds; the paper makes none."""

_RELATIONS: dict[str, Callable[[float, float], bool]] = {"<": operator.lt, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


@dataclass(frozen=True)
class Claim:
    """One line. ``passed`` compares ``measured`` with ``bound``, and so says whether the number supports the claim.

    Attributes:
        key: a short name, the same in every version.
        section: the group of lines it belongs to.
        claim: the statement that this line supports.
        paper: what the paper says.
        verdict: on the paper's statement, see ``VERDICTS``.
        quantity: what ``measured`` is.
    """

    key: str
    section: str
    claim: str
    paper: str
    verdict: str
    quantity: str
    measured: float
    relation: str
    bound: float

    @property
    def passed(self) -> bool:
        return math.isfinite(self.measured) and _RELATIONS[self.relation](self.measured, self.bound)

    def comparison(self) -> str:
        """What was measured beside its bound, with as many digits as it takes to see whether the line holds."""
        for digits in range(4, 18):
            measured, bound = short_number(self.measured, digits), short_number(self.bound, digits)
            if replace(self, measured=float(measured), bound=float(bound)).passed == self.passed:
                break
        return f"{measured} {self.relation} {bound}"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "passed": self.passed}


@cache
def _lines() -> dict[str, dict[str, str]]:
    """Key -> the texts of its line, from ``claims/lines/*.toml``."""
    folder = files("chebnet2d.theory").joinpath("claims", "lines")
    defaults = {"paper": "silent", "verdict": "added"}
    found = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        for section, lines in tomllib.loads(file.read_text(encoding="utf-8")).items():
            found.update({key: {**defaults, **fields, "section": section} for key, fields in lines.items()})
    return found


def line(key: str, measured: float, **facts: Any) -> Claim:
    """The line ``key`` of ``claims/lines/*.toml`` with what was measured; ``facts`` fill the words in braces, in the key too."""
    texts = {name: text.format(graphs="the karate club and 4 random graphs", **facts) for name, text in _lines()[key].items()}
    relation, bound = texts.pop("bound").split()
    return Claim(key=key.format(**facts), measured=float(measured), relation=relation, bound=float(bound), **texts)


def short_number(value: float, digits: int = 4) -> str:
    """Whole numbers as they are, others with so many digits."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.{digits}g}"
