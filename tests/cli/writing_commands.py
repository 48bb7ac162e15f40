"""Every way in which a command writes a path that is typed: the command, the flag, and the name of what is written.

``{model}``, ``{store}`` and ``{bases}`` stand for what the fixture ``made`` has, ``{target}`` for the path.
"""

import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from cli_runner import run
from small_commands import QUICK

STUDY = "study run --methods mlp --datasets csbm --splits 1 --inits 1 --epochs 2"
SEARCH = "search csbm --method mlp --budget 1 --epochs 2 --splits 1"


class Writes(NamedTuple):
    command: str
    name: str
    force: bool = True
    """Whether --force replaces what is there."""

    @property
    def flag(self):
        words = self.command.split()
        return next(flag for flag, value in itertools.pairwise(words) if value.endswith("{target}"))

    def arguments(self, target, made):
        return [word.format(target=target, **made) for word in self.command.split()]


FILES = [
    Writes("predict {model} csbm --out {target}", "p.csv"),
    Writes("predict {model} csbm --out {target}", "p.parquet"),
    Writes("explain {model} csbm --node 0 --out {target}", "e.json"),
    Writes("explain {model} csbm --node 0 --out {target}", "e.png"),
    Writes("explain {model} csbm --node 0 --out {target}", "e.html"),
    Writes("plot {model} --out {target}", "p.png"),
    Writes("plot {model} --out {target}", "p.svg"),
    Writes("plot {model} --out {target}", "p.pdf"),
    Writes("report {model} --out {target}", "r.html"),
    Writes("theory --plot {target}", "t.png"),
    Writes(SEARCH + " --out {target}", "s.toml"),
    Writes(SEARCH + " --out {target}.toml --log {target}", "s.log", force=False),
    Writes(SEARCH + " --out {target}.toml --storage sqlite:///{target}", "s.db", force=False),
    Writes("study export --store {store} --out {target}", "r.csv"),
    Writes("study export --store {store} --out {target}", "r.parquet"),
    Writes("study export --store {store} --out {target}", "r.json"),
    Writes("study table --store {store} --out {target}", "t.md"),
    Writes("study table --store {store} --format latex --out {target}", "t.tex"),
    Writes("study table --store {store} --format csv --out {target}", "t.csv"),
    Writes("study table --store {store} --format json --out {target}", "t.json"),
    Writes(STUDY + " --store {target}", "s.sqlite", force=False),
    Writes(STUDY + " --store {target}.sqlite --log {target}", "s.txt", force=False),
]
FOLDERS = [
    Writes("train csbm --epochs 2 --save {target}", "m", force=False),
    Writes("train-bases {bases} --split uniform --epochs 2 --save {target}", "m", force=False),
    Writes("auto csbm --methods majority,logistic:features --budget 2 --save {target}", "p", force=False),
    Writes("precompute csbm --degree 1 --out {target}", "b", force=False),
    Writes(f"study presets --store {Path(__file__).parents[2] / 'results' / 'table2.parquet'} --out {{target}}", "p", force=True),
]


def named(one):
    return f"{one.command.split(' --')[0].split(' {')[0]} {one.flag} {one.name}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    run("train", "csbm", *QUICK, "--save", folder / "model")
    run(*STUDY.split(), "--store", folder / "store.sqlite")
    run("precompute", "csbm", "--degree", 1, "--out", folder / "bases")
    return {"model": folder / "model", "store": folder / "store.sqlite", "bases": folder / "bases"}
