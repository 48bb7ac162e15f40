"""The settings that come with the package fit their methods."""

import inspect
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.models import GCN, GCNII, LINKX, MODELS, PDEGCN, GloGNN, NodeFormer
from chebnet2d.recipes import chosen_recipes, known_recipe, load_recipe, search_ranges, shipped_recipes
from chebnet2d.search import make_space
from chebnet2d.study import Protocol, Selection
from chebnet2d.study.points import searched_axes, trial_recipes
from chebnet2d.training import Settings
from cli_runner import run
from shipped_methods import OURS

CHOSEN = Path(str(files("chebnet2d"))) / "recipes" / "chosen"
RESULTS = Path(__file__).parents[2] / "results"
NAMES = {"gcn": GCN, "gcnii": GCNII, "linkx": LINKX, "glognn": GloGNN, "pdegcn": PDEGCN, "nodeformer": NodeFormer}


@pytest.mark.parametrize("name", NAMES)
def test_presets_build_models_and_settings(name):
    assert MODELS[name] is NAMES[name]
    tables = tomllib.loads(files("chebnet2d").joinpath("recipes", "presets", f"{name}.toml").read_text(encoding="utf-8"))
    method = NAMES[name]
    known = inspect.signature(method).parameters
    search = tables.pop("search")
    assert "default" in tables
    for table in tables.values():
        assert set(table) == {"origin", "transform", "model", "settings"}
        assert table["origin"].strip()
        arguments = {**table["model"], **({"num_nodes": 10} if "num_nodes" in known else {})}
        method(6, 3, **arguments)
        assert set(Settings.of(**table["settings"]).groups) <= set(method.groups)
    for key, values in search["model"].items():
        for value in values:
            method(6, 3, **{key: value}, **({"num_nodes": 10} if "num_nodes" in known else {}))
    for key, values in search["settings"].items():
        for value in values:
            assert set(Settings.of(**{key: value}).groups) <= set(method.groups)


@pytest.mark.parametrize("name", OURS)
def test_shipped_settings_fit_the_method(name):
    presets = shipped_recipes(name)
    assert "default" in presets, "for datasets without tuned settings"
    arguments = inspect.signature(MODELS[name]).parameters
    groups = {"", *(f"{group}_" for group in MODELS[name].groups)}
    known = {f"{group}{kind}" for group in groups for kind in ("lr", "weight_decay")} | {
        "optimizer",
        "epochs",
        "patience",
        "monitor",
    }
    ranges = search_ranges(name)
    assert set(ranges.get("model", {})) <= set(arguments)
    assert set(ranges.get("settings", {})) <= known
    assert all(isinstance(values, list) and values for part in ranges.values() for values in part.values())
    for dataset, recipe in presets.items():
        assert set(recipe.arguments) <= set(arguments), dataset
        assert set(recipe.settings) <= known, dataset
        assert dataset == "default" or dataset in chebnet2d.data.CATALOGUE, dataset
        assert recipe.origin.strip(), "where the numbers come from"
        Settings.of(**recipe.settings)
        sizes = {"num_nodes": 20} if "num_nodes" in arguments else {}
        MODELS[name](6, 3, **sizes, **{**recipe.arguments, **({"hidden_channels": 8} if "hidden_channels" in arguments else {})})


@pytest.mark.parametrize("name", OURS)
def test_every_searched_value_is_accepted(name):
    arguments = inspect.signature(MODELS[name]).parameters
    sizes = {"num_nodes": 20} if "num_nodes" in arguments else {}
    for key, values in search_ranges(name).get("model", {}).items():
        for value in values:
            small = {"hidden_channels": 8} if "hidden_channels" in arguments and key != "hidden_channels" else {}
            MODELS[name](6, 3, **sizes, **small, **{key: value})


def test_unified_methods_share_features_mlp_and_optimiser():
    protocol = Protocol.from_table(3)
    unified = protocol.methods
    assert len(unified) == 6
    assert all(method.endswith(":unified") for method in unified)
    for dataset in protocol.datasets:
        recipes = [protocol.recipe(method, dataset) for method in unified]
        assert {recipe.transform for recipe in recipes} == {"row-normalize" if dataset in ("cora", "computers") else "none"}
        data = chebnet2d.data.load("csbm")
        mlps = [recipe.build(data).mlp for recipe in recipes]
        shapes = {tuple(tuple(parameter.shape) for parameter in mlp.parameters()) for mlp in mlps}
        assert shapes == {((data.num_features, 64), (64,), (64, 3), (3,))}
        assert {tuple(float(dropout.p) for dropout in mlp.dropouts) for mlp in mlps} == {(0.5, 0.5)}
        assert {Settings.of(**recipe.settings).optimizer for recipe in recipes} == {"adam"}


def test_a_search_of_a_unified_method_leaves_features_and_mlp_as_a_study_runs_them():
    for method in Protocol.from_table(3).methods:
        names = {axis.name for axis in make_space(method).axes}
        assert names.isdisjoint({"hidden_channels", "num_layers", "dropout", "optimizer"})
        assert "lr" in names
        base = load_recipe(method, "cora")
        assert "transform" not in searched_axes(Selection(4), method, base)
        data = chebnet2d.data.load("csbm")
        for trial in trial_recipes(Selection(4), method, base, lambda recipe: recipe.build(data), {}):
            assert (trial.transform, trial.model["hidden_channels"], trial.model["dropout"]) == ("row-normalize", 64, 0.5)
            assert "num_layers" not in trial.model


@pytest.mark.parametrize(
    ("dataset", "transform"), [("cora", "row-normalize"), ("ogbn-arxiv", "none"), ("my-graph", "none"), ("csbm", "none")]
)
def test_defaults_divide_counts_of_words_by_their_sum_and_nothing_else(dataset, transform):
    assert load_recipe("chebnet2d", dataset).transform == transform


@pytest.mark.parametrize("study", sorted(folder.name for folder in CHOSEN.iterdir()))
def test_what_studies_chose_is_what_is_shipped(study, tmp_path):
    """The files are those that the command writes from the study's runs."""
    run("study", "presets", "--store", RESULTS / f"{study}.parquet", "--out", tmp_path / "anew")
    anew = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "anew").iterdir()}
    assert anew == {path.name: path.read_text(encoding="utf-8") for path in (CHOSEN / study).iterdir()}


def test_what_is_known_of_a_method_on_a_dataset():
    chosen = chosen_recipes("gprgnn")["chameleon-filtered"]
    assert chosen.origin.startswith("found by search: trial ")
    assert known_recipe("gprgnn", "Chameleon_Filtered") == chosen
    assert known_recipe("gprgnn", "pubmed") == load_recipe("gprgnn", "pubmed"), "published, as long as no study has chosen"
    assert known_recipe("gprgnn:unified", "chameleon-filtered") is None, "no study has searched it"
    assert known_recipe("gprgnn", "digits") is None
    studied = {dataset for folder in CHOSEN.iterdir() for path in folder.iterdir() for dataset in tomllib.loads(path.read_text())}
    assert sum(len(chosen_recipes(path.stem)) for folder in CHOSEN.iterdir() for path in folder.iterdir()) >= 11 * len(studied)
    for name in OURS:
        for dataset, recipe in chosen_recipes(name).items():
            sizes = {"num_nodes": 20} if "num_nodes" in inspect.signature(MODELS[name]).parameters else {}
            MODELS[name](6, 3, **sizes, **recipe.arguments)
            assert set(Settings.of(**recipe.settings).groups) <= set(MODELS[name].groups), dataset
