"""``chebnet2d models`` and the settings that come with the package."""

import contextlib
import inspect
import io
import json
import re
import sys
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.cli import main
from chebnet2d.cli.models_commands import cited
from chebnet2d.models import MODELS, registry
from chebnet2d.study.presets import load_preset, shipped_presets
from chebnet2d.training import Settings

OURS = [name for name, model in MODELS.items() if model.__module__.startswith("chebnet2d.")]


def run(*arguments: str, code: int = 0) -> str:
    out, err, found = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["chebnet2d", *arguments])
        try:
            main()
        except SystemExit as stop:
            found = stop.code or 0
    assert found == code, err.getvalue()
    return out.getvalue() if code == 0 else err.getvalue()


def test_list_as_json_counts_parameters_for_the_dataset():
    records = {record["name"]: record for record in json.loads(run("models", "--json"))["models"]}
    assert set(OURS) <= set(records)
    assert records["mlp"]["parameters"] == 1433 * 64 + 64 + 64 * 7 + 7
    degree = load_preset("chebnet2d", "cora").model["degree"]
    assert records["chebnet2d"]["parameters"] == records["mlp"]["parameters"] + (degree + 1) * 7 * 7
    assert records["gprgnn"]["parameters"] == records["mlp"]["parameters"] + 11
    on_digits = json.loads(run("models", "mlp", "--dataset", "digits", "--json"))
    assert on_digits["parameters"] == 64 * 64 + 64 + 64 * 10 + 10


def test_list_for_people_has_a_row_for_each_method():
    lines = run("models").splitlines()
    for name in OURS:
        (row,) = [line for line in lines if line.split()[:1] == [name]]
        assert cited(MODELS[name].info.citation) in row
        assert MODELS[name].info.citation not in row
        assert len(row.rstrip()) <= 140
    assert "parameters (cora)" in lines[1]


def test_list_cites_by_authors_and_year():
    assert cited(MODELS["jacobiconv"].info.citation) == "Wang and Zhang, ICML 2022"
    assert cited(MODELS["appnp"].info.citation) == "Gasteiger et al., ICLR 2019"
    assert cited(MODELS["chebnet2d"].info.citation) == "Li et al., arXiv 2404.04559, 2024"
    assert cited("An example, 2024") == "An example, 2024"
    for name in OURS:
        assert re.fullmatch(r"\w+( and \w+| et al\.), [\w. ]+,? \d{4}", cited(MODELS[name].info.citation)), name
    assert MODELS["linkx"].info.citation in run("models", "linkx")


def test_one_method_in_full():
    text = run("models", "jacobiconv")
    assert MODELS["jacobiconv"].info.formula in text
    assert "a=2, b=-0.25" in text, "the tuned settings of Cora"
    assert "Search model a: -1.0, -0.75" in text
    record = json.loads(run("models", "jacobiconv", "--json"))
    assert record["presets"]["cora"]["settings"]["scale_lr"] == 0.01
    assert record["groups"]["scale"] == ["conv.paradigm.eta"]
    assert record["arguments"]["sign"] == "published"


def test_unknown_names_are_answered_with_near_ones():
    assert "Did you mean 'chebnetii'" in run("models", "chebnet-ii", code=2)
    assert "name must be one of 'digits'" in run("models", "--dataset", "no-such-graph", code=2)


@pytest.mark.parametrize("name", OURS)
def test_shipped_settings_fit_the_method(name):
    presets = shipped_presets(name)
    assert "default" in presets, "for datasets without tuned settings"
    arguments = inspect.signature(MODELS[name]).parameters
    groups = {"", *(f"{group}_" for group in MODELS[name].groups)}
    known = {f"{group}{kind}" for group in groups for kind in ("lr", "weight_decay")} | {
        "optimizer",
        "epochs",
        "patience",
        "monitor",
    }
    for dataset, preset in presets.items():
        assert set(preset["model"]) <= set(arguments), dataset
        assert set(preset["settings"]) <= known, dataset
        if dataset == "search":
            assert all(isinstance(values, list) and values for part in preset.values() for values in part.values())
            continue
        assert dataset == "default" or dataset in chebnet2d.data.CATALOGUE, dataset
        assert preset["origin"].strip(), "where the numbers come from"
        assert preset["transform"] in ("none", *chebnet2d.data.TRANSFORMS), dataset
        Settings.of(**preset["settings"])
        sizes = {"num_nodes": 20} if "num_nodes" in arguments else {}
        MODELS[name](6, 3, **sizes, **{**preset["model"], **({"hidden_channels": 8} if "hidden_channels" in arguments else {})})


@pytest.mark.parametrize("name", OURS)
def test_every_searched_value_is_accepted(name):
    arguments = inspect.signature(MODELS[name]).parameters
    sizes = {"num_nodes": 20} if "num_nodes" in arguments else {}
    for key, values in shipped_presets(name).get("search", {}).get("model", {}).items():
        for value in values:
            small = {"hidden_channels": 8} if "hidden_channels" in arguments and key != "hidden_channels" else {}
            MODELS[name](6, 3, **sizes, **small, **{key: value})


def test_code_on_the_page_about_methods_runs():
    page = (Path(__file__).parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")
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
    page = (Path(__file__).parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")
    table = page.split("## What there is")[1].split("## How to choose")[0]
    memory = page.split("## Memory")[1].split("## How each")[0]
    for name in OURS:
        assert f"`{name}`" in table, f"{name} is missing from the list"
        assert f"`{name}`" in memory, f"{name} is missing from the table of memory"
