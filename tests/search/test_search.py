"""Searches: the best of a grid, test labels, storage, samplers and interruption."""

import copy
import itertools
import json
import statistics
import sys
from dataclasses import replace

import pytest
import torch

import chebnet2d
from chebnet2d.recipes import Recipe
from chebnet2d.search import Trial, search
from chebnet2d.search.result import best_recipe
from chebnet2d.search.space import LEARNING_RATES
from chebnet2d.training import fit, fit_many
from search_examples import SMALL, without_time
from small_search import FIXED, QUICK, RECIPE
from uniform_split import split


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
        assert result.recipe.model == {
            "hidden_channels": 4,
            "filter_dropout": 0.0,
            **_only(result.best.model, "degree", "dropout"),
        }
        assert result.recipe.settings["lr"] == result.best.settings["lr"]
        assert result.recipe.settings["epochs"] == 12

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
        assert [without_time(t) for t in first.trials] == [without_time(t) for t in second.trials]
        assert first.recipe == second.recipe

    def test_runs_do_not_know_the_test_nodes(self, data, monkeypatch):
        calls = []

        def spy(runs, *args, **kwargs):
            calls.append((runs, kwargs))
            return fit_many(runs, *args, **kwargs)

        monkeypatch.setattr(sys.modules["chebnet2d.search.trainer"], "fit_many", spy)
        search(data, budget=6, **QUICK)
        assert len(calls) == 3, "the baseline and two groups"
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
        assert [without_time(t) for t in second.trials] == [without_time(t) for t in whole.trials]
        assert [without_time(t) for t in second.trials[:4]] == [without_time(t) for t in first.trials]
        assert without_time(second.baseline) == without_time(whole.baseline)
        assert second.recipe == whole.recipe
        points = [json.dumps([t.model, t.settings], sort_keys=True) for t in whole.trials]
        assert len(set(points)) == 8

    def test_a_storage_keeps_to_its_search(self, data, tmp_path):
        options = {**QUICK, "storage": f"sqlite:///{tmp_path}/trials.db", "budget": 1, "batch": 1, "baseline": False}
        search(data, **options)
        with pytest.raises(ValueError, match="must hold a search with the same settings, got one whose settings differ"):
            search(data, **{**options, "epochs": 13})
        with pytest.raises(ValueError, match="whose space differ"):
            search(data, ranges=SMALL, **options)
        other = {**options, "recipe": Recipe("mlp", model={"hidden_channels": 4})}
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
        assert result.recipe.model == RECIPE.model
        assert result.recipe.origin.startswith("a test; a search found nothing better (random, 2 trials on 2 uniform splits")

    def test_a_tie_goes_to_the_baseline(self):
        trial = Trial({"degree": 4}, {}, 0.9028, 0.5, [0.9028], [3], [7], 1.0, pruned=False)
        baseline = replace(trial, model={}, val_loss=0.6)
        found = [best_recipe(RECIPE, one, baseline, {}, "accuracy", "") for one in (trial, replace(trial, val_metric=0.91))]
        assert [recipe.model for recipe in found] == [RECIPE.model, {"degree": 4}]

    def test_a_baseline_that_was_cut_off_is_said_to_be(self):
        trial = Trial({"degree": 4}, {}, 0.9, 0.5, [0.9], [3], [7], 1.0, pruned=False)
        cut = replace(trial, model={}, val_metric=0.8, pruned=True)
        origins = [
            best_recipe(RECIPE, one, baseline, {"epochs": 9}, "accuracy", "how").origin
            for one, baseline in (
                (trial, replace(cut, pruned=False)),
                (trial, cut),
                (replace(trial, val_metric=0.7), cut),
                (trial, None),
            )
        ]
        reached = "how; mean validation accuracy 0.8000, cut off after 7 epochs"
        assert origins == [
            "found by search: how; mean validation accuracy 0.9000, 0.8000 before",
            f"a test; a search compared nothing with it, for want of time ({reached})",
            f"a test; a search compared nothing with it, for want of time ({reached})",
            "found by search: how; mean validation accuracy 0.9000",
        ]

    def test_combinations_that_make_no_model_are_left_out(self, data):
        ranges = {**SMALL, **FIXED, "degree": [-1, 2]}
        result = search(data, sampler="grid", budget=100, ranges=ranges, **QUICK)
        assert len(result.trials) == 4
        with pytest.raises(ValueError, match="degree must be an integer >= 0, got -1"):
            search(data, budget=2, ranges={"degree": [-1]}, **QUICK)

    def test_tpe_learns(self, data):
        """With one name that decides everything, later groups choose better values than the first ten, which are random."""
        ranges = {**FIXED, "lr": list(LEARNING_RATES[:-1]), "dropout": [i / 50 for i in range(45)], "degree": [2]}
        ranges |= {"filter_lr": [0.0], "lr": [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 0.02, 0.03, 0.04]}
        result = search(data, budget=40, ranges=ranges, baseline=False, halving=False, **{**QUICK, "batch": 8})
        good = [t.settings["lr"] > 0.01 for t in result.trials]
        assert sum(good[-16:]) > 2 * sum(good[:8])

    def test_any_method_variant_and_metric(self):
        two = chebnet2d.data.load("csbm", nodes=90, classes=2, features=8, homophily=0.8, seed=0)
        two.metric = "roc_auc"
        settings = {"lr": 0.02, "epochs": 999}
        recipe = Recipe("gprgnn", transform="row-normalize", model={"hidden_channels": 4}, settings=settings)
        result = search(two, "gprgnn", budget=3, **{**QUICK, "recipe": recipe})
        assert result.metric == "roc_auc"
        assert result.recipe.transform == "row-normalize"
        assert "alpha" in result.best.model
        assert result.recipe.settings["epochs"] == 12
        recipe = Recipe("optbasis", model={"hidden_channels": 4})
        assert search(two, "optbasis:unified", budget=1, **{**QUICK, "recipe": recipe}).recipe.name == "optbasis:unified"
        assert (
            search(two, **{**QUICK, "budget": 1, "recipe": replace(recipe, variant="unified")}).recipe.name == "optbasis:unified"
        )

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


def _only(values, *names):
    return {name: values[name] for name in names}
