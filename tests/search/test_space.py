"""The space of a search: ranges, nearest points, every point once."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chebnet2d
from chebnet2d.models import MODELS, find_model
from chebnet2d.recipes import Recipe, load_recipe, search_ranges
from chebnet2d.search import make_space
from chebnet2d.search.space import DEGREES, DROPOUT_RATES, LEARNING_RATES, WEIGHT_DECAYS, Axis, Space
from chebnet2d.training import Settings


class TestSpace:
    def test_the_papers_ranges_for_both_groups(self):
        axes = {axis.name: axis for axis in make_space("chebnet2d").axes}
        assert set(axes) == {"lr", "weight_decay", "filter_lr", "filter_weight_decay", "dropout", "filter_dropout", "degree"}
        for name in ("lr", "filter_lr"):
            assert axes[name].values == LEARNING_RATES == (1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5)
        for name in ("weight_decay", "filter_weight_decay"):
            assert axes[name].values == WEIGHT_DECAYS == (0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
        assert axes["dropout"].values == axes["filter_dropout"].values == DROPOUT_RATES == tuple(i / 10 for i in range(10))
        assert axes["degree"].values == DEGREES == (2, 4, 8, 10, 12, 16)

    def test_what_a_variant_does_not_know_is_no_axis(self):
        faithful, unified = ({axis.name for axis in make_space(f"chebnet:{v}").axes} for v in ("faithful", "unified"))
        assert unified - faithful == {"filter_lr", "filter_weight_decay", "filter_dropout"}, (
            "it is two layers, not MLP and filter"
        )
        assert {axis.name for axis in make_space("chebnet").axes} == faithful

    @pytest.mark.parametrize("method", MODELS)
    def test_every_method_has_one_with_all_its_groups(self, method):
        space = make_space(method)
        names = {axis.name for axis in space.axes}
        model = Recipe(method).build(chebnet2d.data.load("csbm"))
        trained = {model.group_of(name) for name, _ in model.named_parameters()} - {"weights"}
        groups = ["", *(f"{group}_" for group in trained)] if MODELS[method].trained_by == "gradient" else []
        assert {f"{group}{end}" for group in groups for end in ("lr", "weight_decay")} <= names
        for axis in space.axes:
            assert len(set(axis.values)) == len(axis.values)
            assert not axis.ordered or list(axis.values) == sorted(axis.values)
        for part, table in search_ranges(method).items():
            for name, values in table.items():
                (axis,) = (axis for axis in space.axes if axis.name == name)
                assert axis.part == part
                assert set(values) <= set(axis.values)
        for dataset in ("cora", "chameleon"):
            positions = space.nearest(load_recipe(method, dataset))
            Settings.of(**space.point(positions)[1])

    def test_nearest(self):
        axis = Axis("lr", "settings", LEARNING_RATES)
        assert [axis.values[axis.nearest(v)] for v in (0.01, 0.02, 0.03, 1.0, 0.0)] == [0.01, 0.01, 0.05, 0.5, 1e-4]
        assert Axis("a", "model", (-1.0, 0.5, 2.0)).nearest(-0.4) == 0
        assert Axis("init", "model", ("identity", "xavier")).nearest("xavier") == 1
        assert Axis("init", "model", ("identity", "xavier")).nearest("other") == 0
        point = make_space("chebnet2d").nearest(Recipe("chebnet2d", settings={"lr": 0.05, "filter_lr": 0.5}))
        arguments, settings = make_space("chebnet2d").point(point)
        assert arguments == {"degree": 10, "dropout": 0.5, "filter_dropout": 0.0}
        assert settings == {"lr": 0.05, "weight_decay": 1e-3, "filter_lr": 0.5, "filter_weight_decay": 1e-3}

    @given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 1000))
    def test_every_point_once(self, sizes, seed):
        space = Space(tuple(Axis(f"x{i}", "model", tuple(range(size))) for i, size in enumerate(sizes)))
        points = [tuple(point.values()) for point in space.every_point(seed)]
        assert sorted(points) == sorted(itertools.product(*map(range, sizes)))
        assert len(points) == space.size

    def test_ranges_replace(self):
        space = make_space("chebnet2d", {"lr": [0.1, 0.01], "init": ["xavier", "identity"], "rank": [3]})
        found = {axis.name: axis for axis in space.axes}
        assert found["lr"].values == (0.01, 0.1)
        assert found["init"] == Axis("init", "model", ("xavier", "identity"))
        assert found["rank"].values == (3,)

    def test_a_class_may_carry_its_search_space(self, monkeypatch):
        monkeypatch.setattr(chebnet2d.ChebNet2D, "search_space", {"model": {"rank": [2, 1], "degree": [3, 4]}}, raising=False)
        found = {axis.name: axis for axis in make_space("chebnet2d").axes}
        assert found["rank"] == Axis("rank", "model", (1, 2))
        assert found["degree"].values == (2, 3, 4, 8, 10, 12, 16), "added to the usual ones, as those of presets are"
        assert Axis("degree", "model", (5,)) in make_space("chebnet2d", {"degree": [5]}).axes

    @pytest.mark.parametrize(
        ("own", "sentence"),
        [
            ({"modle": {}}, "a part of the search space of 'mlp' must be one of 'model', 'settings', got 'modle'"),
            ({"model": {"degree": [1]}}, "a model argument in the search space of 'mlp' must be one of .*, got 'degree'"),
            ({"model": {"dropout": []}}, "the range of dropout must be a list of values, at least one, got"),
        ],
    )
    def test_a_wrong_search_space_of_a_class(self, monkeypatch, own, sentence):
        monkeypatch.setattr(find_model("mlp"), "search_space", own, raising=False)
        with pytest.raises(ValueError, match=sentence):
            make_space("mlp")
