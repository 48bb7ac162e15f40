"""A recipe: what it prepares, builds and trains, and its form as data."""

import pytest
import torch

import chebnet2d
from chebnet2d.recipes import Recipe, change_recipe, load_recipe, shipped_recipes


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


def test_preparing_is_the_transform(data):
    torch.testing.assert_close(Recipe("mlp", transform="standardize").prepare(data).x, chebnet2d.data.standardize(data).x)
    assert Recipe("mlp").prepare(data) is data


def test_changes_are_checked_and_take_the_place_of_what_was_there():
    recipe = Recipe("chebnet2d", model={"degree": 3, "dropout": 0.1}, settings={"lr": 0.1})
    changed = change_recipe(recipe, model={"degree": 4}, settings={"epochs": 7}, transform="standardize")
    assert changed.model == {"degree": 4, "dropout": 0.1}
    assert changed.settings == {"lr": 0.1, "epochs": 7}
    assert (changed.transform, recipe.transform) == ("standardize", "none")
    with pytest.raises(chebnet2d.InputError, match="change_recipe: rank must be an argument of the method, got it with 'mlp'"):
        change_recipe(Recipe("mlp"), model={"rank": 2})
    with pytest.raises(chebnet2d.InputError, match="filter_lr must be of a method with a learned filter"):
        change_recipe(Recipe("mlp"), settings={"filter_lr": 2})
    with pytest.raises(chebnet2d.InputError, match="Settings: lr must be a finite number >= 0"):
        change_recipe(recipe, settings={"lr": -1})


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
