"""A plan: its defaults, and the ways to hand it over."""

import pytest

from chebnet2d.recipes import Recipe, load_recipe
from chebnet2d.search import Budget, SearchPlan, search
from search_examples import without_time
from small_search import QUICK


class TestPlan:
    def test_three_ways_to_say_the_same(self, data):
        fields = {**QUICK, "budget": 2, "recipe": Recipe("mlp", model={"hidden_channels": 4}), "baseline": False}
        results = [
            search(data, SearchPlan("mlp", **fields)),
            search(data, "mlp", **fields),
            search(data, SearchPlan(**{**fields, "budget": "1h"}), method="mlp", budget=2),
        ]
        assert [[without_time(trial) for trial in result.trials] for result in results[1:]] == [
            [without_time(trial) for trial in results[0].trials]
        ] * 2
        assert len(results[0].trials) == 2
        assert results[0].facts == results[1].facts == results[2].facts

    def test_the_rungs(self):
        assert SearchPlan().rungs == (50, 100, 200)
        assert SearchPlan(halving=False).rungs == ()
        assert SearchPlan(epochs=100).rungs == (50,)
        assert SearchPlan(patience=3).rungs == (1, 3)

    def test_what_is_not_searched(self, data):
        recipe = SearchPlan("gprgnn:unified").base(data)
        assert recipe.name == "gprgnn:unified"
        assert recipe.model == load_recipe("gprgnn:unified", "csbm").model
        assert SearchPlan().base(data).method == "chebnet2d"
        recipe = SearchPlan(recipe=Recipe("gcn", settings={"lr": 0.2, "epochs": 7, "patience": 5})).base(data)
        assert (recipe.name, recipe.settings) == ("gcn", {"lr": 0.2})

    def test_a_budget_is_read_once(self):
        assert SearchPlan(budget="90s").budget == Budget(seconds=90.0)
        with pytest.raises(AttributeError):
            SearchPlan().budget = "10m"
