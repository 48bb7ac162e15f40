"""A study whose protocol contains the search: trials, choice, report, budgets."""

import math
from collections import Counter

import pytest

import chebnet2d
from chebnet2d.cluster import ProcessExecutor
from chebnet2d.recipes import Recipe
from chebnet2d.search import Halving
from chebnet2d.study import DatasetCache, Protocol, Selection, Store, export_rows, make_plan, read_rows, read_trials, run_study
from chebnet2d.study.choice import GroupedHalving, choose
from chebnet2d.study.points import drawn, trial_recipes
from chebnet2d.study.selection import FIRST_SEED
from chebnet2d.training import Standing
from small_selection import searched
from stored_tables import table_of

MODES = ("development", "nested")


@pytest.fixture(scope="module", params=MODES)
def done(request, tmp_path_factory):
    """A finished study of each mode: protocol, store, runs of the report and of trials."""
    protocol, path = searched(request.param), tmp_path_factory.mktemp("selection") / "s.sqlite"
    run_study(protocol, path)
    return protocol, path, read_rows(path), read_trials(path)


def test_trials_never_see_test_nodes(done):
    _, _, rows, trials = done
    assert {row["kind"] for row in rows} == {"report"}
    assert all(row["test"] and row["test_nodes"] > 0 for row in rows)
    assert {row["kind"] for row in trials} == {"trial"}
    assert all(row["test"] == {"accuracy": None} and row["test_nodes"] == 0 and row["predictions"] is None for row in trials)


def test_budgets_are_equal_by_construction(done):
    protocol, path, rows, trials = done
    nested = protocol.search.mode == "nested"
    assert Counter(row["method"] for row in rows) == {"chebnet2d": 6, "mlp": 6}
    assert Counter(row["method"] for row in trials) == dict.fromkeys(protocol.methods, 4 * (3 if nested else 2))
    left = Counter(row["method"] for row in trials if row["pruned"])
    assert left == dict.fromkeys(protocol.methods, 2 * (3 if nested else 2)), "at the rung the worse half leaves"
    assert {row["epochs"] for row in trials if row["pruned"]} == {4}
    count = 4 * (3 if nested else 2)
    with Store(path) as store:
        budgets = store.budgets()
    for budget in budgets:
        spent = sum(row["epochs"] for row in trials if row["method"] == budget["method"])
        assert budget == {**budget, "planned": count, "done": count, "left": count // 2, "epochs": spent}
    assert [budget["method"] for budget in budgets] == list(protocol.methods)


def test_seeds_and_splits_of_selection_are_never_those_of_the_report(done):
    protocol, _, rows, trials = done
    assert {row["seed"] for row in rows}.isdisjoint(row["seed"] for row in trials)
    assert max(row["seed"] for row in rows) < FIRST_SEED <= min(row["seed"] for row in trials)
    if protocol.search.mode == "development":
        assert {row["split_seed"] for row in trials} == {100, 101}
        assert {row["split_digest"] for row in trials}.isdisjoint(row["split_digest"] for row in rows)
    else:
        assert {row["split_digest"] for row in trials} == {row["split_digest"] for row in rows}


def test_the_report_is_run_with_what_the_trials_choose(done):
    """The choice is done here once more, with nothing but the rows of trials."""
    protocol, _, rows, trials = done
    nested = protocol.search.mode == "nested"
    for row in rows:
        compete = [t for t in trials if t["method"] == row["method"] and (not nested or t["split_seed"] == row["split_seed"])]
        means = {}
        for number in {t["trial"] for t in compete}:
            own = [t for t in compete if t["trial"] == number]
            if not any(t["pruned"] for t in own):
                scores, losses = [t["val_metric"] for t in own], [t["val_loss"] for t in own]
                means[number] = (-math.fsum(scores) / len(own), math.fsum(losses) / len(own), number)
        best = min(means, key=means.get)
        assert row["trial"] == best
        (config,) = {str({**t["config"], "origin": ""}) for t in compete if t["trial"] == best}
        assert config == str({**row["config"], "origin": ""})
        origin = row["config"]["origin"]
        assert origin.startswith(f"found by search: trial {best} of 4 by ")
        for fact in ("rungs 4", "9 epochs, patience 6, seed 0", "lr 0.005|0.02|0.1", "own validation" if nested else "100, 101"):
            assert fact in origin


def test_a_row_of_the_report_is_a_call_of_the_library(done):
    _, _, rows, _ = done
    row = rows[0]
    config = row["config"]
    recipe = Recipe(config["method"], dataset="csbm", **{name: config[name] for name in ("transform", "model", "settings")})
    data = chebnet2d.data.load("csbm")
    alone = recipe.train(data, chebnet2d.data.split(data, "uniform", seed=row["split_seed"]), seed=row["seed"])
    assert row["val_loss"] == pytest.approx(alone.val_loss, abs=1e-3)


def test_a_second_start_does_nothing_and_reuse_copies_trials_too(done, tmp_path):
    protocol, path, rows, trials = done
    run_study(protocol, path, progress=pytest.fail)
    export_rows(path, tmp_path / "all.parquet")
    assert read_rows(tmp_path / "all.parquet") == rows
    assert read_trials(tmp_path / "all.parquet") == trials
    for source in (path, tmp_path / "all.parquet"):
        copy = tmp_path / f"from-{source.suffix[1:]}.sqlite"
        run_study(protocol, copy, reuse=[source], progress=pytest.fail)
        assert (read_rows(copy), read_trials(copy)) == (rows, trials)


def test_report_runs_of_another_choice_are_not_reused(done, tmp_path):
    protocol, path, rows, trials = done
    units = list(make_plan(protocol, DatasetCache()))
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(protocol, units)
        worse = [{**row, "val_metric": 1 - row["val_metric"]} for row in trials]  # as if rounding had decided otherwise
        assert store.take(worse, [unit for unit in units if unit.kind == "trial"]) == len(trials)
    run_study(protocol, tmp_path / "s.sqlite", reuse=[path])
    again = read_rows(tmp_path / "s.sqlite")
    chosen = {(row["method"], row["split_seed"]): row["trial"] for row in again}
    assert chosen != {(row["method"], row["split_seed"]): row["trial"] for row in rows}
    for row in again:
        (unit,) = (unit for unit in units if unit.id == row["unit_id"])
        assert row["trial"] == unit.resolve([t for t in worse if t["unit_id"] in unit.needs]).chosen[row["split_seed"]][0]


def test_several_processes_give_the_same_table(done, tmp_path):
    protocol, path, _, _ = done
    run_study(protocol, tmp_path / "two.sqlite", executor=ProcessExecutor(2))
    assert table_of(tmp_path / "two.sqlite") == table_of(path)


def test_a_longer_plan_does_not_change_the_trials_of_others():
    """What a method tries depends on its own space alone."""
    one, two = (list(make_plan(searched(methods=m), DatasetCache())) for m in (("chebnet2d",), ("mlp", "chebnet2d")))
    assert {unit.id for unit in one} < {unit.id for unit in two}


def test_methods_that_share_a_name_share_its_values():
    units = [unit for unit in make_plan(searched(search={"trials": 7}), DatasetCache()) if unit.kind == "trial"]
    cheb, mlp = units
    for one, other in zip(cheb.trials, mlp.trials, strict=True):
        assert (one.transform, one.settings["lr"]) == (other.transform, other.settings["lr"])
        assert "degree" in one.model
        assert "degree" not in other.model


@pytest.mark.parametrize("trials", [1, 2, 5, 12, 16, 40])
@pytest.mark.parametrize("count", [1, 2, 4, 5, 10])
def test_values_are_dealt_out_evenly(trials, count):
    found = Counter(drawn(range(count), trials, "0", "lr"))
    assert sum(found.values()) == trials
    assert max(found.values()) - min(found[value] for value in range(count)) <= 1
    assert drawn(range(count), trials, "0", "lr") == drawn(range(count), trials, "0", "lr")
    if trials > 4 and count > 1:
        assert drawn(range(count), trials, "0", "lr") != drawn(range(count), trials, "1", "lr")


def test_draws_stay_as_they_are():
    """Ids of trials follow from them: a change would cost all that was done."""
    assert drawn((0.005, 0.01, 0.05, 0.1), 8, "0", "lr") == PINNED


PINNED = [0.005, 0.1, 0.01, 0.05, 0.01, 0.1, 0.005, 0.05]


def test_trial_0_is_the_start_where_it_is_asked_for(preset):
    protocol = searched(methods=("chebnet2d",), search={"start": True}, presets={"chebnet2d": preset})
    unit = next(iter(make_plan(protocol, DatasetCache())))
    assert unit.trials[0].settings["lr"] == 0.02
    assert unit.trials[0].origin == "a test"
    assert len(unit.trials) == 4


def test_the_declared_space_has_the_transform_and_ranges_replace_it():
    search = {"space": {}, "ranges": {"all": {"lr": (0.3,), "nothing": (1,)}, "chebnet2d": {"degree": (1, 2)}}}
    units = [unit for unit in make_plan(searched(search=search), DatasetCache()) if unit.kind == "trial"]
    assert {trial.settings["lr"] for unit in units for trial in unit.trials} == {0.3}
    assert {trial.model["degree"] for trial in units[0].trials} == {1, 2}
    assert {trial.transform for trial in units[0].trials} == {"none", "standardize"}


def test_a_point_that_makes_no_model_is_drawn_again():
    def build(recipe):
        if recipe.model["degree"] == 3:
            raise chebnet2d.InputError("test", "degree", "1", recipe.model["degree"])

    search = Selection(6, space={"degree": (1, 3)}, start=False)
    found = trial_recipes(search, "chebnet2d", Recipe("chebnet2d"), build, {"epochs": 5, "patience": 5})
    assert [recipe.model["degree"] for recipe in found] == [1] * 6
    with pytest.raises(chebnet2d.InputError, match="degree must be 1"):
        trial_recipes(Selection(2, space={"degree": (3,)}), "chebnet2d", Recipe("chebnet2d"), build, {})


def row(trial, metric, loss=1.0, pruned=False):
    return {"trial": trial, "val_metric": metric, "val_loss": loss, "pruned": pruned, "metric": "accuracy"}


CHOICES = [
    ([row(0, 0.5), row(1, 0.7)], 1),
    ([row(0, 0.5), row(1, 0.9, pruned=True)], 0),
    ([row(0, 0.5), row(1, 0.5, 0.9)], 1),
    ([row(1, 0.5), row(0, 0.5)], 0),
    ([row(0, 0.9), row(0, 0.1), row(1, 0.6), row(1, 0.6)], 1),
    ([row(0, None), row(1, 0.1)], 1),
    ([row(0, 0.9), row(0, 0.9, pruned=True), row(1, 0.1), row(1, 0.1)], 1),
]


@pytest.mark.parametrize(("rows", "expected"), CHOICES)
def test_choice(rows, expected):
    assert choose(rows).trial == choose(rows[::-1]).trial == expected


def test_no_choice_without_a_finished_trial():
    with pytest.raises(chebnet2d.InputError, match="rows must have a trial that was trained to its end"):
        choose([row(0, 0.5, pruned=True)])


def test_groups_are_halved_apart():
    standings = [Standing(metric, 1.0, True) for metric in (0.9, 0.8, 0.7, 0.6, 0.1, 0.2, 0.3, 0.4)]
    trials, groups = [0, 1, 2, 3] * 2, [0] * 4 + [1] * 4
    assert GroupedHalving((5,), trials, groups).leaving(standings) == {2, 3, 4, 5}
    assert Halving((5,), range(8)).leaving(standings) == {4, 5, 6, 7}, "together the second group would leave"


WRONG = [
    ({"trials": 0}, "search: trials must be an integer >= 1"),
    ({"mode": "lucky"}, "search: mode must be one of 'development', 'nested'"),
    ({"splits": (2, 100)}, "search.splits must be none of the reported splits 0 to 2, got 2"),
    ({"splits": ()}, "search: splits must be different seeds, at least one"),
    ({"rungs": (5, 5)}, "search: rungs must be increasing epochs"),
    ({"rungs": 5}, "search: rungs must be a list of numbers"),
    ({"space": {"lr": ()}}, "search: space.lr must be a list of different values"),
    ({"space": {"degre": (1,)}}, "search.space must have names that some method knows, got 'degre'"),
    ({"space": {}, "ranges": {"gcn": {}}}, "search.ranges must be one of 'all', 'chebnet2d', 'mlp', got 'gcn'"),
    ({"ranges": {"all": {}}}, "search: ranges must be left out beside space"),
    ({"start": 1}, "search: start must be True or False"),
]


@pytest.mark.parametrize(("search", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_wrong_searches(search, sentence):
    with pytest.raises(chebnet2d.InputError) as caught:
        searched(search=search)
    assert sentence in str(caught.value)


def test_seeds_of_the_report_stay_below_those_of_trials():
    with pytest.raises(chebnet2d.InputError, match="first_seed must be so small that seeds stay below"):
        searched("nested", first_seed=FIRST_SEED)


def test_a_protocol_file_with_a_search(tmp_path):
    (tmp_path / "p.toml").write_text(TOML)
    protocol = Protocol.from_toml(tmp_path / "p.toml")
    assert protocol == searched("nested", search={"splits": (100, 101)})
    assert Protocol.from_json(protocol.to_json()) == protocol
    (tmp_path / "p.toml").write_text(TOML.replace("trials", "trails"))
    with pytest.raises(chebnet2d.InputError, match="Did you mean 'trials'"):
        Protocol.from_toml(tmp_path / "p.toml")


TOML = """
methods = ["chebnet2d", "mlp"]
datasets = ["csbm"]
splits = 3
inits = 2
epochs = 9
patience = 6

[search]
trials = 4
mode = "nested"
rungs = [4]
start = false

[search.space]
lr = [0.005, 0.02, 0.1]
degree = [1, 3]
transform = ["none", "standardize"]
"""
