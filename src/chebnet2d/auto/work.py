"""The work folder: what is finished is on the disk, whole, and a later call with the same data and options goes on from there.

FOLDER/<digest>/work.json          seconds that were spent
FOLDER/<digest>/candidates/<id>/   candidate.json, answers.safetensors, model-0 ... of one finished candidate
FOLDER/<digest>/bases/             bases of the graph, where candidates are trained on such (auto/by_bases.py)
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import nn

from chebnet2d._checks import InputError, integer, real
from chebnet2d._documents import check_fields, read_document
from chebnet2d._targets import written_whole
from chebnet2d.auto.candidate import Answers, Outcome
from chebnet2d.data.folders import busy, locked_beside, put_in_place, temporary_beside
from chebnet2d.models import NodeClassifier, OnBases, OnGraph, load, save

_CANDIDATE, _ANSWERS, _WORK = "candidate.json", "answers.safetensors", "work.json"
_FIELDS = {"entry": str, "number": int, "repeat": int, "recipe": dict, "fold_scores": list, "epochs": list, "on_bases": bool}


class Work:
    """``outcomes``: by the id of their candidate. Use it within ``Work.opened``, which keeps other processes out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outcomes: dict[str, Outcome] = {}
        self.seconds = 0.0
        for path in sorted((folder / "candidates").iterdir()):
            if path.name.startswith("."):  # what a kill has left
                shutil.rmtree(path)
            else:
                self.outcomes[path.name] = _read(path)
        if (folder / _WORK).is_file():
            facts = check_fields("auto", _WORK, read_document("auto", folder / _WORK), {"seconds": (int, float)})
            self.seconds = real("auto", f"seconds in {_WORK}", facts["seconds"], 0)

    @property
    def bases(self) -> Path:
        return self.folder / "bases"

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, digest: str) -> Iterator["Work"]:
        own = folder / digest
        with locked_beside(own):  # what a killed deletion has left goes
            pass
        (own / "candidates").mkdir(parents=True, exist_ok=True)
        with locked_beside(own / "candidates") as free:
            if not free:
                raise busy("auto", own)
            yield cls(own)

    def put(self, outcome: Outcome, answers: Answers, models: Sequence[nn.Module], seconds: float) -> Outcome:
        """Keep a finished candidate, under the id of its candidate. ``seconds``: spent so far, in all."""
        place = self.folder / "candidates" / outcome.candidate.id
        made = temporary_beside(place)
        made.mkdir()
        for number, model in enumerate(models):
            save(model, made / f"model-{number}")
        safetensors.torch.save_file(answers.tensors(), made / _ANSWERS)
        (made / _CANDIDATE).write_text(json.dumps(outcome.to_json(), indent=2), encoding="utf-8")
        put_in_place(made, place)
        kept = replace(outcome, folder=place)
        self.outcomes[outcome.candidate.id] = kept
        self.note(seconds)
        return kept

    def note(self, seconds: float) -> None:
        self.seconds = seconds
        with written_whole(self.folder / _WORK) as temporary:
            temporary.write_text(json.dumps({"seconds": seconds}), encoding="utf-8")

    def forget(self, outcome: Outcome) -> None:
        """Its models and answers are not needed any more; its scores are."""
        for path in [*outcome.folder.glob("model-*"), outcome.folder / _ANSWERS]:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def delete(self) -> None:
        """The work is done, and lies elsewhere. It is renamed first: half of it could not be gone on with."""
        aside = temporary_beside(self.folder)
        self.folder.rename(aside)
        shutil.rmtree(aside)
        with suppress(OSError):  # work on other data, or with other options
            self.folder.parent.rmdir()


def answers_of(outcome: Outcome) -> Answers:
    return Answers(**safetensors.torch.load_file(outcome.folder / _ANSWERS))


def models_of(outcome: Outcome) -> list[NodeClassifier]:
    folders = sorted(outcome.folder.glob("model-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    return [OnGraph(model) if isinstance(model, OnBases) else model for model in map(load, folders)]


def _read(folder: Path) -> Outcome:
    def number(owner: str, name: str, value: Any) -> None:
        real(owner, name, value, 0)

    path = folder / _CANDIDATE
    facts = check_fields("auto", str(path), read_document("auto", path), {**_FIELDS, "seconds": number})
    integer("auto", f"number in {_CANDIDATE}", facts["number"], 0)
    try:
        return Outcome.from_json(facts, folder)
    except (TypeError, KeyError) as error:
        raise InputError("auto", str(path), "a finished candidate", reason=str(error)) from None
