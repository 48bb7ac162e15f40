"""Successive halving inside of fit_many, against whole histories."""

import copy
import itertools
import statistics
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import chebnet2d
from chebnet2d.search import Halving
from chebnet2d.training import Run, Settings, Standing, fit_many
from uniform_split import split


def model(data, degree=2, dropout=0.3):
    return chebnet2d.ChebNet2D(data.num_features, 3, hidden_channels=4, degree=degree, dropout=dropout)


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
        halved = fit_many(self.runs(exact, rates), exact, width=5, test=False, pruner=Halving(rungs))
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
        full = fit_many(self.runs(exact, rates, splits=3), exact, test=False)
        for width in (2, None):
            halved = fit_many(self.runs(exact, rates, splits=3), exact, width=width, pruner=Halving((5,), numbers), test=False)
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
        results = fit_many(runs, exact, pruner=Halving((6,)), test=False)
        assert results[0].epochs == 3
        assert not results[0].pruned
        assert sum(r.pruned for r in results[1:]) == 1

    def test_the_time_limit_ends_all_runs_with_what_they_have(self, data):
        runs = [Run(model(data), split(data), s, Settings.of(epochs=100_000, patience=100_000)) for s in range(3)]
        start = time.thread_time()  # not the wall clock: the machine may be asleep for a while
        results = fit_many(runs, data, width=2, pruner=Halving(seconds=0.3), test=False)
        assert time.thread_time() - start < 1
        assert all(r.pruned and r.epochs >= 1 for r in results)
        assert results[0].val_metric == max(results[0].history.val_metric)
        assert [r.epochs for r in fit_many(runs, data, pruner=Halving((1, 2), seconds=0), test=False)] == [1, 1, 1]

    @given(
        st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from([1.0, 2.0, float("nan")])), min_size=1, max_size=9)
    )
    def test_half_leave_and_none_that_stays_is_worse(self, pairs):
        leaving = Halving().leaving([Standing(*pair, running=True) for pair in pairs])
        assert len(leaving) == len(pairs) // 2
        for gone, kept in itertools.product(leaving, set(range(len(pairs))) - leaving):
            assert pairs[gone][0] <= pairs[kept][0]
            if pairs[gone][0] == pairs[kept][0] and pairs[kept][1] == 2.0:
                assert not pairs[gone][1] < 2.0, "ties go to the lower loss"
        assert Halving().leaving([Standing(*pair, running=False) for pair in pairs]) == set()

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"rungs": (5, 5)}, r"Halving: rungs must be increasing epochs, got \(5, 5\)"),
            ({"rungs": (0,)}, "Halving: every rung must be an integer >= 1, got 0"),
            ({"rungs": (1,), "trials": [0]}, "Halving: trials must have a number per run, 2 in all, got 1"),
            ({"trials": [0, -1]}, "Halving: every trial number must be an integer >= 0, got -1"),
            ({"seconds": -1}, "fit_many: pruner.seconds must be a finite number >= 0, got -1"),
        ],
    )
    def test_wrong_arguments(self, data, options, sentence):
        with pytest.raises(ValueError, match=sentence):
            fit_many([Run(model(data), split(data)) for _ in range(2)], data, pruner=Halving(**options))


def _best(history, rung):
    """(metric, -loss) of the best epoch up to a rung."""
    return max((metric, -loss) for metric, loss in zip(history.val_metric[:rung], history.val_loss[:rung], strict=True))
