import contextlib
import copy
import itertools
import json
import statistics
import sys
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import chebnet2d
from chebnet2d.models import MODELS
from chebnet2d.study import Preset, Protocol, load_preset, make_space
from chebnet2d.study.budget import Budget, Spending, usual_batch
from chebnet2d.study.plan import build_model
from chebnet2d.study.search import _best_preset, search
from chebnet2d.study.space import DEGREES, DROPOUT_RATES, LEARNING_RATES, WEIGHT_DECAYS, Axis, Space
from chebnet2d.study.trials import Trials
from chebnet2d.training import Run, Settings, fit, fit_many
from chebnet2d.training.halving import worse_half
from test_cli import run

PRESET = Preset("chebnet2d", "csbm", "a test", model={"hidden_channels": 4, "degree": 2}, settings={"lr": 0.02})
QUICK = {"splits": 2, "epochs": 12, "patience": 12, "batch": 4, "preset": PRESET}
SMALL = {"lr": [0.001, 0.05], "dropout": [0.0, 0.6], "degree": [1, 3]}
"""Eight points; every other name is fixed."""
FIXED = {"weight_decay": [5e-4], "filter_lr": [0.01], "filter_weight_decay": [5e-4], "filter_dropout": [0.0]}


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=90, classes=3, features=8, homophily=0.6, seed=0)


def model(data, degree=2, dropout=0.3):
    return chebnet2d.ChebNet2D(data.num_features, 3, hidden_channels=4, degree=degree, dropout=dropout)


def split(data, seed=0):
    return chebnet2d.data.split(data, "uniform", seed=seed)


class TestHalving:
    @staticmethod
    def runs(data, rates, epochs=14, splits=1):
        return [
            Run(model(data, degree).double(), split(data, s), s, Settings.of(lr=lr, epochs=epochs))
            for lr, degree in rates
            for s in range(splits)
        ]

    @pytest.fixture
    def exact(self, data):
        exact = copy.copy(data)
        exact.x = data.x.double()
        return exact

    def test_the_worse_half_leaves_and_the_others_do_not_notice(self, exact):
        rates = [(lr, 2) for lr in (1e-5, 0.02, 1e-4, 0.05, 0.002)]
        rungs = (4, 8)
        full = fit_many(self.runs(exact, rates), exact, width=5, test=False)
        halved = fit_many(self.runs(exact, rates), exact, width=5, test=False, rungs=rungs)
        staying = set(range(5))
        for rung in rungs:  # the oracle: whole histories, cut at the rung
            reached = {r: _best(full[r].history, rung) for r in staying}
            leaving = sorted(staying, key=lambda r: (reached[r], -r))[: len(staying) // 2]
            for r in leaving:
                assert halved[r].pruned
                assert halved[r].epochs == rung
                assert halved[r].val_metric == pytest.approx(reached[r][0])
                assert halved[r].history.val_loss == pytest.approx(full[r].history.val_loss[:rung], abs=1e-9)
            staying -= set(leaving)
        assert len(staying) == 2
        for r in staying:
            assert not halved[r].pruned
            assert halved[r].history.val_loss == pytest.approx(full[r].history.val_loss, abs=1e-9)
            for a, b in zip(halved[r].model.parameters(), full[r].model.parameters(), strict=True):
                torch.testing.assert_close(a, b, rtol=0, atol=1e-9)

    def test_a_trial_is_judged_and_leaves_as_a_whole_whatever_its_shape_and_stack(self, exact):
        rates = [(0.05, 1), (1e-5, 3), (1e-4, 1), (0.03, 3)]
        numbers = [t for t in range(4) for _ in range(3)]
        full = fit_many(self.runs(exact, rates, splits=3), exact, trials=numbers, test=False)
        for width in (2, None):
            halved = fit_many(self.runs(exact, rates, splits=3), exact, width=width, trials=numbers, rungs=(5,), test=False)
            means = [
                [statistics.fmean(v) for v in zip(*(_best(r.history, 5) for r in full[3 * t : 3 * t + 3]), strict=True)]
                for t in range(4)
            ]
            leaving = sorted(range(4), key=means.__getitem__)[:2]
            assert [r.pruned for r in halved] == [t in leaving for t in numbers]
            for r, (ours, theirs) in enumerate(zip(halved, full, strict=True)):
                end = 5 if numbers[r] in leaving else None
                assert ours.history.val_loss == pytest.approx(theirs.history.val_loss[:end], abs=1e-9)
                assert ours.seed == theirs.seed == r % 3

    def test_runs_that_are_done_are_out_of_the_contest(self, exact):
        runs = self.runs(exact, [(1e-6, 2), (0.02, 2), (0.01, 2)])
        runs[0] = Run(runs[0].model, runs[0].split, 0, Settings.of(lr=1e-6, epochs=3))
        results = fit_many(runs, exact, rungs=(6,), test=False)
        assert results[0].epochs == 3
        assert not results[0].pruned
        assert sum(r.pruned for r in results[1:]) == 1

    def test_the_time_limit_ends_all_runs_with_what_they_have(self, data):
        runs = [Run(model(data), split(data), s, Settings.of(epochs=100_000, patience=100_000)) for s in range(3)]
        start = time.thread_time()  # not the wall clock: the machine may be asleep for a while
        results = fit_many(runs, data, width=2, time_limit=0.3, test=False)
        assert time.thread_time() - start < 1
        assert all(r.pruned and r.epochs >= 1 for r in results)
        assert results[0].val_metric == max(results[0].history.val_metric)
        assert [r.epochs for r in fit_many(runs, data, rungs=(1, 2), time_limit=0, test=False)] == [1, 1, 1]

    @given(
        st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from([1.0, 2.0, float("nan")])), min_size=1, max_size=9)
    )
    def test_half_leave_and_none_that_stays_is_worse(self, pairs):
        scores = {t: [pair] for t, pair in enumerate(pairs)}
        leaving = worse_half(scores, range(len(pairs)))
        assert len(leaving) == len(pairs) // 2
        for gone, kept in itertools.product(leaving, set(scores) - leaving):
            assert pairs[gone][0] <= pairs[kept][0]
            if pairs[gone][0] == pairs[kept][0] and pairs[kept][1] == 2.0:
                assert not pairs[gone][1] < 2.0, "ties go to the lower loss"
        assert worse_half(scores, []) == set()

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"rungs": (5, 5)}, r"fit_many: rungs must be increasing epochs, got \(5, 5\)"),
            ({"rungs": (0,)}, "fit_many: every rung must be an integer >= 1, got 0"),
            ({"trials": [0]}, "fit_many: trials must have a number for each of the 2 runs, got 1"),
            ({"trials": [0, -1]}, "fit_many: every trial number must be an integer >= 0, got -1"),
            ({"time_limit": -1}, "fit_many: time_limit must be a finite number >= 0, got -1"),
        ],
    )
    def test_wrong_arguments(self, data, options, sentence):
        with pytest.raises(ValueError, match=sentence):
            fit_many([Run(model(data), split(data)) for _ in range(2)], data, **options)


def _best(history, rung):
    """(metric, -loss) of the best epoch up to a rung."""
    return max((metric, -loss) for metric, loss in zip(history.val_metric[:rung], history.val_loss[:rung], strict=True))


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
        faithful, unified = ({axis.name for axis in make_space("chebnet", None, v).axes} for v in ("faithful", "unified"))
        assert unified - faithful == {"filter_lr", "filter_weight_decay", "filter_dropout"}, (
            "it is two layers, not MLP and filter"
        )
        assert {axis.name for axis in make_space("chebnet").axes} == faithful

    @pytest.mark.parametrize("method", MODELS)
    def test_every_method_has_one_with_all_its_groups(self, method):
        space = make_space(method)
        names = {axis.name for axis in space.axes}
        model = build_model(method, chebnet2d.data.load("csbm"), {})
        trained = {model.group_of(name) for name, _ in model.named_parameters()} - {"weights"}
        groups = ["", *(f"{group}_" for group in trained)]
        assert {f"{group}{end}" for group in groups for end in ("lr", "weight_decay")} <= names
        for axis in space.axes:
            assert len(set(axis.values)) == len(axis.values)
            assert not axis.ordered or list(axis.values) == sorted(axis.values)
        own = chebnet2d.study.presets.shipped_presets(method).get("search", {})
        for part, table in own.items():
            for name, values in table.items():
                (axis,) = (axis for axis in space.axes if axis.name == name)
                assert axis.part == part
                assert set(values) <= set(axis.values)
        for dataset in ("cora", "chameleon"):
            positions = space.nearest(load_preset(method, dataset))
            Settings.of(**space.point(positions)[1])

    def test_nearest(self):
        axis = Axis("lr", "settings", LEARNING_RATES)
        assert [axis.values[axis.nearest(v)] for v in (0.01, 0.02, 0.03, 1.0, 0.0)] == [0.01, 0.01, 0.05, 0.5, 1e-4]
        assert Axis("a", "model", (-1.0, 0.5, 2.0)).nearest(-0.4) == 0
        assert Axis("init", "model", ("identity", "xavier")).nearest("xavier") == 1
        assert Axis("init", "model", ("identity", "xavier")).nearest("other") == 0
        point = make_space("chebnet2d").nearest(Preset("chebnet2d", "x", "", settings={"lr": 0.05, "filter_lr": 0.5}))
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


class TestSearch:
    def test_the_best_of_a_grid_is_the_best(self, data):
        result = search(data, sampler="grid", budget="60s", ranges={**SMALL, **FIXED}, halving=False, baseline=False, **QUICK)
        assert result.stopped == "every point was tried"
        truth = {}
        for lr, dropout, degree in itertools.product(*SMALL.values()):
            scores = []
            for s in range(2):
                trained = chebnet2d.ChebNet2D(8, 3, hidden_channels=4, degree=degree, dropout=dropout)
                fitted = fit(trained, data, split(data, s), s, lr=lr, weight_decay=5e-4, filter_lr=0.01, epochs=12, patience=12)
                scores.append(fitted.val_metric)
            truth[lr, dropout, degree] = statistics.fmean(scores)
        found = {(t.settings["lr"], t.model["dropout"], t.model["degree"]): t.val_metric for t in result.trials}
        assert found == pytest.approx(truth, abs=1e-6)
        assert result.best.val_metric == pytest.approx(max(truth.values()), abs=1e-6)
        assert max(truth.values()) > min(truth.values())
        assert result.preset.model == {
            "hidden_channels": 4,
            "filter_dropout": 0.0,
            **_only(result.best.model, "degree", "dropout"),
        }
        assert result.preset.settings["lr"] == result.best.settings["lr"]
        assert result.preset.settings["epochs"] == 12

    @pytest.mark.parametrize("sampler", ["tpe", "random"])
    def test_test_labels_do_not_matter(self, data, sampler):
        """Nodes that are in no train or validation part of any split have other labels: nothing changes."""
        seen = torch.cat([part for s in range(2) for part in (split(data, s).train, split(data, s).val)]).unique()
        hidden = torch.tensor(sorted(set(range(data.num_nodes)) - set(seen.tolist())))
        assert len(hidden) > 0
        other = copy.copy(data)
        other.y = data.y.clone()
        other.y[hidden] = (other.y[hidden] + 1) % 3
        first, second = (search(d, sampler=sampler, budget=8, **QUICK) for d in (data, other))
        assert [_plain(t) for t in first.trials] == [_plain(t) for t in second.trials]
        assert first.preset == second.preset

    def test_runs_do_not_know_the_test_nodes(self, data, monkeypatch):
        calls = []

        def spy(runs, *args, **kwargs):
            calls.append((runs, kwargs))
            return fit_many(runs, *args, **kwargs)

        monkeypatch.setattr(sys.modules["chebnet2d.study.search"], "fit_many", spy)
        search(data, budget=6, **QUICK)
        assert len(calls) == 3, "the baseline and two batches"
        for runs, options in calls:
            assert options["test"] is False
            assert all(run.split.test.numel() == 0 for run in runs)
            digests = {(run.seed, run.split.train.sum().item(), run.split.val.sum().item()) for run in runs}
            assert digests == {(s, split(data, s).train.sum().item(), split(data, s).val.sum().item()) for s in range(2)}

    @pytest.mark.parametrize("sampler", ["tpe", "random", "grid"])
    def test_a_search_goes_on_from_its_storage(self, data, tmp_path, sampler):
        """Two calls with half the budget ask and find what one call does; nothing is tried twice."""
        options = {"sampler": sampler, "ranges": SMALL, **QUICK, "epochs": 6}
        whole = search(data, budget=8, **options)
        storage = f"sqlite:///{tmp_path}/new/trials.db"
        first = search(data, budget=4, storage=storage, **options)
        second = search(data, budget=4, storage=storage, **options)
        assert len(first.trials) == 4
        assert [_plain(t) for t in second.trials] == [_plain(t) for t in whole.trials]
        assert [_plain(t) for t in second.trials[:4]] == [_plain(t) for t in first.trials]
        assert _plain(second.baseline) == _plain(whole.baseline)
        assert second.preset == whole.preset
        points = [json.dumps([t.model, t.settings], sort_keys=True) for t in whole.trials]
        assert len(set(points)) == 8

    def test_a_storage_keeps_to_its_search(self, data, tmp_path):
        options = {**QUICK, "storage": f"sqlite:///{tmp_path}/trials.db", "budget": 1, "batch": 1, "baseline": False}
        search(data, **options)
        with pytest.raises(ValueError, match="must hold a search with the same settings, got one whose settings differ"):
            search(data, **{**options, "epochs": 13})
        with pytest.raises(ValueError, match="whose space differ"):
            search(data, ranges=SMALL, **options)
        other = {**options, "preset": Preset("mlp", "csbm", "a test", model={"hidden_channels": 4})}
        assert len(search(data, "mlp", **other).trials) == 1, "one storage can hold searches of several methods"

    def test_a_small_space_is_exhausted_by_every_sampler(self, data):
        for sampler in ("tpe", "random", "grid"):
            result = search(data, sampler=sampler, budget=100, ranges={**SMALL, **FIXED}, **QUICK)
            assert result.stopped == "every point was tried"
            assert len({json.dumps([t.model, t.settings]) for t in result.trials}) == len(result.trials) == 8

    def test_halving_prunes_and_the_best_is_not_pruned(self, data):
        result = search(data, budget=16, ranges={"degree": [2, 4]}, **{**QUICK, "batch": 8, "epochs": 30, "patience": 8})
        assert result.facts["rungs"] == [2, 4, 8]
        assert 8 <= sum(t.pruned for t in result.trials) < 16
        for trial in result.trials:
            assert max(trial.epochs) in (2, 4, 8) or not trial.pruned
        assert not result.best.pruned
        assert result.best.val_metric == max(t.val_metric for t in result.trials)

    def test_the_baseline_wins_if_nothing_is_better(self, data):
        bad = {"lr": [0.0], "filter_lr": [0.0], "dropout": [0.8, 0.9], "degree": [2]}
        result = search(data, budget=2, ranges=bad, **{**QUICK, "epochs": 40})
        assert result.baseline.val_metric > result.best.val_metric
        assert result.val_metric == result.baseline.val_metric
        assert result.preset.model == PRESET.model
        assert result.preset.origin.startswith("a test; a search found nothing better (random, 2 trials on 2 uniform splits")

    def test_a_tie_goes_to_the_baseline(self, data):
        record = {"model": {"degree": 4}, "settings": {}, "val_metric": 0.9028, "val_loss": 0.5, "pruned": False}
        baseline = {"model": {}, "settings": {}, "val_metric": 0.9028, "val_loss": 0.6, "pruned": False}
        found = [_best_preset(PRESET, trial, baseline, {}, "accuracy", "") for trial in (record, record | {"val_metric": 0.91})]
        assert [preset.model for preset in found] == [PRESET.model, {"degree": 4}]

    def test_combinations_that_make_no_model_are_left_out(self, data):
        ranges = {**SMALL, **FIXED, "degree": [-1, 2]}
        result = search(data, sampler="grid", budget=100, ranges=ranges, **QUICK)
        assert len(result.trials) == 4
        with pytest.raises(ValueError, match="degree must be an integer >= 0, got -1"):
            search(data, budget=2, ranges={"degree": [-1]}, **QUICK)

    def test_tpe_learns(self, data):
        """With one name that decides everything, later batches choose better values than the first ten, which are random."""
        ranges = {**FIXED, "lr": list(LEARNING_RATES[:-1]), "dropout": [i / 50 for i in range(45)], "degree": [2]}
        ranges |= {"filter_lr": [0.0], "lr": [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 0.02, 0.03, 0.04]}
        result = search(data, budget=40, ranges=ranges, baseline=False, halving=False, **{**QUICK, "batch": 8})
        good = [t.settings["lr"] > 0.01 for t in result.trials]
        assert sum(good[-16:]) > 2 * sum(good[:8])

    def test_any_method_variant_and_metric(self):
        two = chebnet2d.data.load("csbm", nodes=90, classes=2, features=8, homophily=0.8, seed=0)
        two.metric = "roc_auc"
        preset = Preset("gprgnn", "csbm", "a test", "row-normalize", {"hidden_channels": 4}, {"lr": 0.02, "epochs": 999})
        result = search(two, "gprgnn", budget=3, **{**QUICK, "preset": preset})
        assert result.metric == "roc_auc"
        assert result.preset.transform == "row-normalize"
        assert "alpha" in result.best.model
        assert result.preset.settings["epochs"] == 12
        preset = Preset("optbasis", "csbm", "a test", model={"hidden_channels": 4})
        assert search(two, "optbasis:unified", budget=1, **{**QUICK, "preset": preset}).preset.model["variant"] == "unified"

    def test_progress_and_log(self, data):
        seen, lines = [], []
        search(data, budget=6, progress=seen.append, log=lines.append, **QUICK)
        assert [p.trials for p in seen if p.epoch is None] == [0, 4, 6]
        assert max(p.epoch.epoch for p in seen if p.epoch) == 12
        assert lines[0].startswith("baseline: validation 0.")
        assert lines[1].startswith("4 trials (")
        best = [p.best for p in seen if p.best is not None]
        assert best == sorted(best)

    def test_interrupting_gives_the_best_so_far(self, data):
        def stop(progress):
            if progress.trials == 4 and progress.epoch is not None:
                raise KeyboardInterrupt

        result = search(data, budget=100, progress=stop, **QUICK)
        assert result.stopped == "interrupted"
        assert len(result.trials) == 4


class TestSeveralBatches:
    """As on a cluster (``test_cluster.py``), but in this process: three batches at a time, and the last one ends first."""

    @pytest.fixture
    def places(self, monkeypatch):
        """How many batches were in training, whenever one ended."""
        seen = []

        def train(function, batches, address, seconds):
            waiting = []
            while True:
                waiting += itertools.islice(batches, 3 - len(waiting))
                if not waiting:
                    return
                seen.append(len(waiting))
                batch, arguments = waiting.pop()
                yield batch, function(*arguments)

        module = sys.modules["chebnet2d.study.search"]
        monkeypatch.setattr(module, "train_on_ray", train)
        monkeypatch.setattr(module, "connected", contextlib.nullcontext)
        return seen

    @pytest.mark.parametrize("sampler", ["tpe", "random", "grid"])
    def test_no_point_twice_and_the_budget_is_kept(self, data, places, tmp_path, sampler):
        options = {"sampler": sampler, "ranges": {"degree": [1, 2]}, **QUICK, "epochs": 3}
        storage = f"sqlite:///{tmp_path}/trials.db"
        seen = []
        result = search(data, budget=18, ray="a", storage=storage, progress=seen.append, **options)
        assert places == [3, 3, 3, 3, 2, 1], "the baseline, four batches of four and one of two"
        assert [one.in_training for one in seen] == [5, 5, 5, 5, 1, 0], "the baseline was the last to end"
        assert [one.trials for one in seen] == [4, 8, 12, 14, 18, 18]
        assert len({json.dumps([t.model, t.settings]) for t in result.trials}) == len(result.trials) == 18
        assert result.stopped == "budget"
        assert result.baseline is not None
        more = search(data, budget=4, ray="a", storage=storage, **options)
        assert more.trials[:18] == result.trials, "in the order they ended"
        assert len({json.dumps([t.model, t.settings]) for t in more.trials}) == len(more.trials) == 22

    def test_a_grid_finds_the_same_in_any_order(self, data, places):
        options = {"sampler": "grid", "budget": 100, "ranges": {**SMALL, **FIXED, "degree": [-1, 1, 2, 3]}, **QUICK}
        there, here = (search(data, ray=ray, **options) for ray in ("a", None))
        assert there.stopped == here.stopped == "every point was tried"
        key = lambda t: json.dumps(_plain(t), sort_keys=True)
        assert sorted(map(key, there.trials)) == sorted(map(key, here.trials))
        assert len(here.trials) == 12, "degree -1 makes no model"
        assert max(places) == 3

    def test_batches_in_training_draw_different_points(self):
        """Each from its own random numbers, not from the grid that is left when all draws are known."""
        space = make_space("chebnet2d")
        for sampler in ("tpe", "random"):
            trials = Trials("a test", space, sampler, 0)
            batches = [trials.ask(8) for _ in range(5)]
            alone = Trials("a test", space, sampler, 0)
            assert [one.positions for one in batches[0]] == [one.positions for one in alone.ask(8)]
            points = {tuple(one.positions.values()) for batch in batches for one in batch}
            assert len(points) == 40
            grid = {tuple(point.values()) for point in itertools.islice(space.every_point(0), 40)}
            assert not grid & points


class TestBudget:
    def test_texts(self):
        assert [Budget.of(t).seconds for t in ("90s", "10m", "2h", "1h30m", "0.5m")] == [90, 600, 7200, 5400, 30]
        assert [Budget.of(t).trials for t in ("200", 7)] == [200, 7]
        assert [str(Budget.of(t)) for t in ("90s", "10m", "1h30m", 7)] == ["1m30s", "10m", "1h30m", "7 trials"]

    @pytest.mark.parametrize("wrong", ["", "0", "ten", "5d", "-3m", "0s", "10m later", "1.5", None])
    def test_wrong_texts(self, wrong):
        with pytest.raises(ValueError, match="budget must be a time like 90s, 10m or 2h, or a number of trials, got"):
            Budget.of(wrong)

    def test_time_is_kept(self, data):
        for seconds in (1.0, 2.5):
            start = time.thread_time()
            result = search(data, budget=f"{seconds}s", **{**QUICK, "epochs": 100_000, "patience": 100_000})
            assert time.thread_time() - start < seconds + 0.5
            assert result.stopped == "budget"
            assert result.baseline.pruned
            assert all(trial.pruned for trial in result.trials)
            assert " before" not in result.preset.origin, "a baseline that was cut off is no fair comparison"

    def test_the_usual_batch_leaves_something_to_learn_from(self):
        assert [usual_batch(Budget.of(budget)) for budget in ("10m", 1000, 32, 7, 3)] == [16, 16, 8, 1, 1]

    def test_batches_shrink_with_what_is_left(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("chebnet2d.study.budget.time.perf_counter", lambda: now[0])
        spending = Spending(Budget.of("100s"), batch=16)
        assert spending.next_batch() == 16, "nothing is known yet"
        spending.learn([{"epochs": [40, 60], "seconds": 5.0, "pruned": False}])  # 0.1 s an epoch, 50 epochs to the end
        assert spending.cost(3) == pytest.approx(15)
        now[0] = 10.0
        assert spending.next_batch() == 16
        now[0] = 70.0
        assert spending.next_batch() == 6
        spending.writing = 10.0
        assert spending.next_batch() == 4
        now[0] = 87.0
        assert spending.next_batch() == 1, "half of the way for one"
        now[0] = 88.0
        assert spending.next_batch() == 0
        spending = Spending(Budget.of("20"), batch=16)
        spending.trials = 16
        assert spending.next_batch() == 4
        assert [spending.next_batch(in_training) for in_training in (1, 4)] == [3, 0]

    def test_the_cost_of_a_batch_that_is_halved(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("chebnet2d.study.budget.time.perf_counter", lambda: now[0])
        spending = Spending(Budget.of("1000s"), batch=16, rungs=(50, 100, 200))
        spending.learn([{"epochs": [400], "seconds": 400.0, "pruned": False}])
        assert spending.cost(16) == pytest.approx(16 * 50 + 8 * 50 + 4 * 100 + 2 * 200)
        assert spending.cost(5) == pytest.approx(5 * 50 + 3 * 50 + 2 * 100 + 1 * 200)
        assert spending.next_batch() == 8
        now[0] = 700.0
        assert spending.next_batch() == 3, "no trial would end, but three get to epoch 100"
        spending.learn([{"epochs": [50], "seconds": 5.0, "pruned": True}, {"epochs": [150], "seconds": 15.0, "pruned": False}])
        assert spending.cost(16) == pytest.approx(0.1 * (16 * 50 + 8 * 50 + 4 * 50))


WRONG = [
    ({"budget": "soon"}, "search: budget must be a time like 90s, 10m or 2h, or a number of trials, got 'soon'"),
    ({"sampler": "bayes"}, "search: sampler must be one of 'tpe', 'random', 'grid', got 'bayes'"),
    ({"splits": 0}, "search: splits must be an integer >= 1, got 0"),
    ({"batch": 0}, "search: batch must be an integer >= 1, got 0"),
    ({"seed": -1}, "search: seed must be an integer >= 0, got -1"),
    ({"method": "chebnet3d"}, "Did you mean 'chebnet2d'"),
    ({"method": 3}, "search: method must be the name of a model, got 3"),
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
]


@pytest.mark.parametrize(("options", "sentence"), WRONG, ids=[sentence[:60] for _, sentence in WRONG])
def test_wrong_calls(data, options, sentence):
    preset = {} if "method" in options else {"preset": PRESET}
    with pytest.raises(ValueError, match=sentence):
        search(data, **{"budget": 1, "batch": 1, "epochs": 2, "sampler": "grid", "baseline": False, **preset, **options})


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


class TestCommand:
    OPTIONS = ("--splits", 2, "--epochs", 12, "--batch", 4, "--range", "degree=1,3", "--range", "dropout=0,0.5")

    def test_it_writes_a_preset_that_load_preset_reads(self, tmp_path):
        out, log = tmp_path / "found" / "preset.toml", tmp_path / "log.txt"
        done = run("search", "csbm", "--budget", 6, *self.OPTIONS, "--out", out, "--log", log, "--json")
        record = json.loads(done.stdout)
        preset = load_preset("chebnet2d", "csbm", out)
        assert preset.as_json() == record["preset"]
        assert preset.model["degree"] in (1, 3, 10)
        assert preset.origin.startswith(("found by search: random, 6 trials on 2 uniform splits", "default of the class"))
        assert record["trials"] == 6
        assert record["search"]["space"]["degree"] == [1, 3]
        assert "test" not in json.dumps({name: record[name] for name in ("best", "baseline", "metric", "search")})
        assert len(log.read_text().splitlines()) == 3
        assert done.stderr == ""
        assert out.read_text().startswith("# written by: chebnet2d ")
        studied = Protocol(("chebnet2d",), ("csbm",), presets={"chebnet2d": str(out)}).preset("chebnet2d", "csbm")
        assert studied.model == preset.model
        trained = json.loads(run("train", "csbm", "--preset", out, "--epochs", 2, "--json").stdout)
        assert trained["preset"] == preset.origin

    def test_it_says_what_it_found(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        done = run("search", "csbm", "--method", "mlp", "--budget", 2, "--splits", 1, "--epochs", 5, "--no-baseline")
        assert "2 trials, 0 of them pruned" in done.stdout
        assert "validation accuracy of the best trial: " in done.stdout
        assert "preset: mlp-csbm.toml" in done.stdout
        assert load_preset("mlp", "csbm", tmp_path / "mlp-csbm.toml").settings["epochs"] == 5

    def test_the_example(self):
        assert "Example: chebnet2d search" in run("search", "--help").stdout

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--budget", "soon"], "budget must be a time like 90s, 10m or 2h"),
            (["--out", "preset.json"], "--out must be a file that ends in .toml, got 'preset.json'"),
            (["--range", "lr"], "--range must be like lr=0.01,0.05, got 'lr'"),
            (["--range", "speed=1"], "the name of a range must be one of"),
            (["--sampler", "gird"], "Did you mean 'grid'?"),
            (["--storage", "trials"], "storage must be the address of a database"),
        ],
    )
    def test_wrong_commands(self, tmp_path, monkeypatch, arguments, sentence):
        monkeypatch.chdir(tmp_path)
        done = run("search", "csbm", *arguments, code=2)
        assert sentence in " ".join(done.stderr.split())
        assert done.stdout == ""
        assert list(tmp_path.iterdir()) == []


def _plain(trial):
    """A trial without the time it took."""
    return {name: value for name, value in vars(trial).items() if name != "seconds"}


def _only(values, *names):
    return {name: values[name] for name in names}
