"""A recipe: what it prepares, builds and trains, and its form as data."""

import pytest
import torch

import chebnet2d
from chebnet2d.recipes import Recipe, load_recipe, shipped_recipes


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=90, classes=3, features=8, seed=0)


def test_training_is_prepare_build_and_fit(data):
    recipe = Recipe("gprgnn:unified", transform="standardize", model={"hidden_channels": 8}, settings={"lr": 0.02, "epochs": 5})
    split = chebnet2d.data.split(data, "uniform", seed=1)
    result = recipe.train(data, split, seed=3, epochs=7)
    prepared = chebnet2d.data.standardize(data)
    model = chebnet2d.models.GPRGNN(8, 3, hidden_channels=8, variant="unified")
    alone = chebnet2d.fit(model, prepared, split, seed=3, lr=0.02, epochs=7)
    assert result.val_loss == alone.val_loss
    assert result.test == alone.test
    assert result.epochs == 7


def test_another_graph_is_prepared_with_the_scale_of_the_first(data):
    recipe = Recipe("mlp", transform="standardize")
    scale = recipe.scale_of(data)
    other = data.clone()
    other.x = 2 * data.x + 1
    expected = (other.x - scale["mean"]) / scale["deviation"]
    torch.testing.assert_close(recipe.prepare(other, scale).x.double(), expected, atol=1e-5, rtol=1e-5)
    assert Recipe("mlp").scale_of(data) is None
    assert Recipe("mlp").prepare(data) is data


def test_the_variant_is_one_thing_however_it_is_given():
    spelt = [
        Recipe("gprgnn:unified"),
        Recipe("gprgnn", "unified"),
        Recipe("gprgnn", model={"variant": "unified"}),
        Recipe(**Recipe("gprgnn:unified").to_json()),
    ]
    assert all(recipe == spelt[0] for recipe in spelt)
    assert spelt[0].to_json()["model"] == {"variant": "unified"}
    assert (spelt[0].name, spelt[0].method, Recipe("gprgnn").name) == ("gprgnn:unified", "gprgnn", "gprgnn")


def test_the_identity_leaves_the_origin_out():
    first, second = (Recipe("mlp", dataset="cora", origin=origin, settings={"lr": 0.1}) for origin in ("here", "there"))
    assert first.identity() == second.identity()
    assert list(first.identity()) == ["method", "dataset", "origin", "transform", "model", "settings"]


@pytest.mark.parametrize("method", ["chebnet2d", "gprgnn", "appnp"])
def test_a_unified_recipe_has_the_shared_mlp_and_the_own_filter(method):
    own, unified = load_recipe(method, "cora"), load_recipe(f"{method}:unified", "cora")
    assert (unified.model["hidden_channels"], unified.model["dropout"], unified.variant) == (64, 0.5, "unified")
    assert {k: v for k, v in unified.settings.items() if k != "optimizer"} == unified.settings
    assert unified.settings.get("lr") == own.settings.get("lr")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Recipe("mlp", transform="luck"), "Recipe: transform must be one of 'none', 'row-normalize'"),
        (
            lambda: Recipe("mlp", model={"depth": 3}).build(chebnet2d.data.load("csbm")),
            "the arguments of 'mlp' must be those of MLP",
        ),
        (lambda: Recipe("gprgnn:luck"), "variant"),
        (lambda: load_recipe("gprgm", "cora"), "Did you mean 'gprgnn'"),
    ],
)
def test_wrong_recipes(make, sentence):
    with pytest.raises(chebnet2d.InputError) as caught:
        make()
    assert sentence in str(caught.value)


def test_a_method_without_presets_has_the_defaults_of_its_class():
    assert {name: recipe.to_json()["model"] for name, recipe in shipped_recipes("no_package:Mine").items()} == {"default": {}}


@pytest.mark.parametrize("method", ["chebnet2d", "gprgnn"])
def test_a_recipe_trains_on_bases(method, data, tmp_path):
    """What has no meaning there, as the dropout between MLP and filter, is left out."""
    from chebnet2d.bases import precompute
    from chebnet2d.models import FilterFirst

    degree = {"chebnet2d": {"degree": 3}, "gprgnn": {"steps": 3}}[method]
    recipe = Recipe(method, model={"hidden_channels": 6, "filter_dropout": 0.4, **degree}, settings={"lr": 0.02})
    split = chebnet2d.data.split(data, "uniform", seed=0)
    operator = {"chebnet2d": "L_hat", "gprgnn": "P~"}[method]
    bases = precompute(data, out=tmp_path / "b", degree=3, operator=operator)
    result = recipe.train(bases, split, epochs=2)
    assert isinstance(result.model, FilterFirst)
    assert result.epochs == 2
    assert recipe.prepare(bases) is bases
