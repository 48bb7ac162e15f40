"""The catalogue of datasets, without any file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import get_origin, get_type_hints

import pytest

from chebnet2d import InputError
from chebnet2d.data import CATALOGUE, RAW_FORMATS, Statistics, find_entry
from chebnet2d.data.splits import SPLIT_KINDS
from data_root import find_data_root
from paper_datasets import PAPER

pytestmark = pytest.mark.usefixtures("own_folders")
DATA_ROOT = find_data_root()  # before a test changes the environment


def test_the_catalogue_has_the_eighteen_of_the_paper():
    assert [name for name, entry in CATALOGUE.items() if entry.paper] == PAPER
    for entry in CATALOGUE.values():
        assert entry.split in SPLIT_KINDS
        assert entry.licence
        assert entry.source
        assert entry.metric == ("roc_auc" if entry.name in ("genius", "tolokers", "minesweeper") else "accuracy")
        assert find_entry(entry.title.replace(" ", "")).name == entry.name


def test_names_are_forgiving():
    assert find_entry(" Twitch_Gamers ").name == "twitch-gamers"
    assert find_entry("film").name == "actor"
    with pytest.raises(InputError, match="Did you mean 'tolokers'"):
        find_entry("toloker")


def test_statistics_of_the_paper_are_those_of_its_tables():
    path = (DATA_ROOT or Path()).parent / "paper" / "tables.json"
    if not path.is_file():
        pytest.skip("no tables of the paper at hand")
    printed = json.loads(path.read_text())["dataset_statistics"]
    for name in PAPER:
        paper = CATALOGUE[name].paper
        assert {"nodes": paper.nodes, "edges": paper.edges, "features": paper.features, "classes": paper.classes} == printed[name]


def test_the_docs_page_agrees_with_the_catalogue():
    """It has every dataset of the paper. A new entry in the catalogue may do without a row, but a row must be right."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "data.md").read_text()
    listed = {name for name in CATALOGUE if f"| `{name}` |" in page}
    assert listed >= set(PAPER)
    for entry in (CATALOGUE[name] for name in listed):
        known = entry.statistics
        counts = (known.nodes, known.edges, known.features, known.classes)
        assert f"| `{entry.name}` | {' | '.join(f'{count:,}' for count in counts)} |" in page
        metric = "ROC-AUC" if entry.metric == "roc_auc" else "accuracy"
        row = f"| `{entry.name}` | {metric} | `{entry.split}` | {entry.fixed or 'none'} | {entry.licence} | {entry.source} |"
        assert row in page
        for trouble in entry.trouble:
            assert trouble in page


def test_every_field_has_its_type():
    """The facts are TOML, which no type checker sees."""
    for entry in CATALOGUE.values():
        assert entry.format in RAW_FORMATS
        for owner in (entry, entry.statistics, entry.paper or Statistics()):
            for name, kind in get_type_hints(type(owner)).items():
                value = getattr(owner, name)
                if get_origin(kind) is Mapping:
                    assert isinstance(value, dict)
                    assert all(isinstance(text, str) for pair in value.items() for text in pair)
                elif get_origin(kind) is tuple:
                    assert isinstance(value, tuple)
                    assert all(isinstance(text, str) for text in value)
                else:
                    assert isinstance(value, kind), (entry.name, name)
