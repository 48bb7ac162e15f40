"""A candidate: an entry with settings, trained on all folds of a partition; and what comes out of it."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from chebnet2d.recipes import Recipe

FINISHED = "finished"
NOT_FINISHED = "not finished"


@dataclass(frozen=True)
class Candidate:
    """``number``: 0 is the entry's default, others are draws. ``repeat``: 0 is the partition that all are compared on."""

    entry: str
    number: int
    repeat: int
    recipe: Recipe

    @property
    def id(self) -> str:
        """Also the name of a folder."""
        word = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in self.entry)
        return f"{word}.{self.number}.{self.repeat}"


@dataclass(frozen=True)
class Outcome:
    """A candidate that was trained to the end. ``folder`` holds its models and ``Answers`` until a better one has come.

    ``on_bases``: by bases on disk, since the whole graph takes too much memory or too long.
    """

    candidate: Candidate
    fold_scores: Sequence[float]
    epochs: Sequence[int]
    seconds: float
    folder: Path
    on_bases: bool = False

    @property
    def score(self) -> float:
        """The mean over the folds on which the metric is defined."""
        return mean_of(self.fold_scores)

    def to_json(self) -> dict[str, Any]:
        own = self.candidate
        scores = [score if math.isfinite(score) else None for score in self.fold_scores]
        facts = {"entry": own.entry, "number": own.number, "repeat": own.repeat, "recipe": own.recipe.to_json()}
        return {**facts, "fold_scores": scores, "epochs": list(self.epochs), "seconds": self.seconds, "on_bases": self.on_bases}

    @classmethod
    def from_json(cls, facts: dict[str, Any], folder: Path) -> "Outcome":
        own = Candidate(facts["entry"], facts["number"], facts["repeat"], Recipe(**facts["recipe"]))
        scores = [math.nan if score is None else score for score in facts["fold_scores"]]
        return cls(own, scores, facts["epochs"], facts["seconds"], folder, facts["on_bases"])


@dataclass(frozen=True)
class Answers:
    """``out_of_fold``: P x C, each node of the pool by the model that has not seen its label. ``everywhere``: N x C means."""

    out_of_fold: Tensor
    everywhere: Tensor

    def tensors(self) -> dict[str, Tensor]:
        return {name: value.contiguous() for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Status:
    """Why a candidate has no outcome. ``need``: about the seconds that it would take, where that was measured."""

    word: str
    reason: str
    need: float | None = None

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}"


def mean_of(scores: Sequence[float]) -> float:
    defined = [score for score in scores if not math.isnan(score)]
    return math.fsum(defined) / len(defined) if defined else math.nan
