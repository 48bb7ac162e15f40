"""The page about methods: its code runs, and it names every method."""

import re
from pathlib import Path

import chebnet2d
from chebnet2d.models import registry
from shipped_methods import OURS


def test_code_on_the_page_about_methods_runs():
    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == 2
    try:
        names: dict = {}
        for block in blocks:
            exec(compile(block, "docs/methods.md", "exec"), names)
        model = names["LegendreNet"](24, 3, hidden_channels=8)
        data = chebnet2d.data.load("csbm", nodes=60, features=24, classes=3)
        result = chebnet2d.fit(model, data, chebnet2d.data.split(data, "uniform", seed=0), epochs=3, filter_lr=0.1)
        assert result.epochs == 3
    finally:
        registry.MODELS.pop("legendre", None)


def test_the_page_about_methods_names_every_method():
    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    table = page.split("## What there is")[1].split("## How to choose")[0]
    memory = page.split("## Memory")[1].split("## How each")[0]
    for name in OURS:
        assert f"`{name}`" in table, f"{name} is missing from the list"
        assert f"`{name}`" in memory, f"{name} is missing from the table of memory"
