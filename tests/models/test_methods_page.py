"""The page about methods names every method."""

from pathlib import Path

from shipped_methods import OURS


def test_the_page_about_methods_names_every_method():
    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    table = page.split("## What there is")[1].split("## How to choose")[0]
    memory = page.split("## Memory")[1].split("## How each")[0]
    for name in OURS:
        assert f"`{name}`" in table, f"{name} is missing from the list"
        assert f"`{name}`" in memory, f"{name} is missing from the table of memory"
