"""docs/theory.md and the report speak of the same lines and pictures."""

import re
from pathlib import Path

import pytest

from chebnet2d.theory import PICTURES
from test_report import LINES

PAGE = (Path(__file__).parents[2] / "docs" / "theory.md").read_text(encoding="utf-8")
NAMED = re.compile(
    r"`((?:theorem|corollary|definition|proposition|section|lemma|appendix|degree|frequencies|fewest|decoupled|effective|parametrisation"
    r"|approximation|stability|generalisation|search|rank)(?:[\d.A]+)?(?:-[^`]+)?)`"
)


def test_lines_on_the_page_exist():
    named = {name for name in NAMED.findall(PAGE) if re.search(r"\d|-", name) and not name.endswith("...")}
    assert len(named) > 60
    assert sorted(named - set(LINES)) == []


@pytest.mark.parametrize("prefix", sorted({re.split(r"-", key)[0] for key in LINES}))
def test_every_group_of_lines_is_on_the_page(prefix):
    assert f"`{prefix}" in PAGE


def test_pictures_on_the_page_are_there():
    shown = re.findall(r"\]\(theory/(.+?)\.png\)", PAGE)
    assert sorted(shown) == sorted([*PICTURES, "degree"])
    assert all((Path(__file__).parents[2] / "docs" / "theory" / f"{name}.png").is_file() for name in shown)
