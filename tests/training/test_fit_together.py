"""Runs on several sources: as if each source had been alone, but for the rungs, at which all are compared."""

import chebnet2d
from chebnet2d.search import Halving
from chebnet2d.training import Run, Settings, fit_many, fit_together

DATA = chebnet2d.data.load("csbm", nodes=120)
SOURCES = [DATA, chebnet2d.data.standardize(DATA)]
RATES = [[0.01, 0.05], [0.02, 0.1, 0.001]]


def groups():
    split = chebnet2d.data.split(DATA, "uniform", seed=0)
    settings = {"epochs": 8, "patience": 8}
    return [
        (
            [
                Run(chebnet2d.ChebNet2D(32, 3, hidden_channels=8, degree=2), split, 7, Settings.of(lr=r, **settings))
                for r in rates
            ],
            source,
        )
        for rates, source in zip(RATES, SOURCES, strict=True)
    ]


def test_each_source_is_trained_as_if_it_were_alone():
    together = fit_together(groups())
    alone = [result for runs, source in groups() for result in fit_many(runs, source)]
    assert [result.history for result in together] == [result.history for result in alone]
    assert [result.test for result in together] == [result.test for result in alone]
    assert len({tuple(result.history.val_loss) for result in together}) == 5


def test_runs_of_all_sources_are_compared_at_a_rung():
    results = fit_together(groups(), pruner=Halving((3,)), test=False)
    assert [result.epochs for result in results if result.pruned] == [3, 3]
    standing = [(max(result.history.val_metric[:3]), r) for r, result in enumerate(results)]
    left = {r for r, result in enumerate(results) if result.pruned}
    worst = min(score for score, r in standing if r not in left)
    assert all(score <= worst for score, r in standing if r in left)
    assert all(result.test == {} for result in results)


def test_nothing_to_fit():
    assert fit_together([]) == fit_together([([], DATA)]) == []
