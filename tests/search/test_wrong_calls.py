"""Wrong calls of search."""

import sys

import pytest

from chebnet2d.recipes import Recipe
from chebnet2d.search import SearchPlan, search
from small_search import QUICK, RECIPE

WRONG = [
    ({"budget": "soon"}, "search: budget must be a time like 90s, 10m or 2h, or a number of trials, got 'soon'"),
    ({"sampler": "bayes"}, "search: sampler must be one of 'tpe', 'random', 'grid', got 'bayes'"),
    ({"splits": 0}, "search: splits must be an integer >= 1, got 0"),
    ({"batch": 0}, "search: batch must be an integer >= 1, got 0"),
    ({"seed": -1}, "search: seed must be an integer >= 0, got -1"),
    ({"method": "chebnet3d"}, "Did you mean 'chebnet2d'"),
    ({"method": 3}, "method must be a name, 'name:variant', .*, got 3"),
    ({"method": "gcn:unified"}, "the arguments of 'gcn' must be those of GCN, got: .*variant"),
    ({"monitor": "f1"}, "monitor must be one of 'accuracy', 'loss', got 'f1'"),
    ({"split": "unifrom"}, "Did you mean 'uniform'"),
    ({"storage": "trials.db"}, "storage must be the address of a database like sqlite:///search.db, got 'trials.db'"),
    ({"storage": "nosuch://x"}, "storage must be the address of a database like .*, got 'nosuch://x': Can't load plugin"),
    ({"ranges": {"learning_rate": [1]}}, "the name of a range must be one of .*'lr'"),
    ({"ranges": {"lr": []}}, "the range of lr must be a list of values, at least one, got"),
    ({"ranges": {"lr": [-1.0, 0.1]}}, "lr must be a finite number >= 0, got -1.0"),
    ({"baseline": 1}, "search: baseline must be True or False, got 1"),
    ({"halving": "no"}, "search: halving must be True or False, got 'no'"),
    ({"executor": "auto"}, "search: executor must be an object with slots and run, .*, got 'auto'"),
    ({"method": "gcn", "recipe": Recipe("mlp")}, "search: recipe must be one of the method 'gcn', got 'mlp'"),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG, ids=[sentence[:60] for _, sentence in WRONG])
def test_wrong_calls(data, options, sentence):
    recipe = {} if "method" in options else {"recipe": RECIPE}
    with pytest.raises(ValueError, match=sentence):
        search(data, **{"budget": 1, "batch": 1, "epochs": 2, "sampler": "grid", "baseline": False, **recipe, **options})


def test_a_plan_knows_itself_that_it_is_wrong():
    with pytest.raises(ValueError, match="search: splits must be an integer >= 1, got 0"):
        SearchPlan(splits=0)
    with pytest.raises(TypeError, match="preset"):
        SearchPlan(preset=RECIPE)


def test_without_optuna_the_sentence_names_the_extra(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(
        ValueError, match=r"optuna must be installed, got no such package. Run: pip install 'chebnet2d\[search\]'"
    ):
        search(data, budget=1, **QUICK)


def test_a_file_that_is_no_database(data, tmp_path):
    (tmp_path / "trials.db").write_text("these are no trials at all, and this is no database" * 20)
    with pytest.raises(ValueError, match=r"storage must be the address of a database like .*file is not a database"):
        search(data, budget=1, storage=f"sqlite:///{tmp_path}/trials.db", **QUICK)
