"""Budgets in time and in trials."""

import time

import pytest

from chebnet2d.search import Budget, Trial, search
from chebnet2d.search.budget import Spending
from small_search import QUICK


def trial(epochs, seconds, *, pruned):
    return Trial({}, {}, 0.5, 1.0, [0.5] * len(epochs), epochs, epochs, seconds, pruned)


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
            origin = result.recipe.origin
            assert " before" not in origin, "a baseline that was cut off is no fair comparison"
            assert "cut off after" in origin

    def test_the_usual_group_leaves_something_to_learn_from(self):
        assert [Spending(budget).group_size for budget in ("10m", 1000, 32, 7, 3)] == [16, 16, 8, 1, 1]

    def test_groups_shrink_with_what_is_left(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("chebnet2d.search.budget.time.perf_counter", lambda: now[0])
        spending = Spending(Budget.of("100s"), group_size=16)
        assert spending.next_group() == 16, "nothing is known yet"
        spending.learn([trial([40, 60], 5.0, pruned=False)])  # 0.1 s per epoch, 50 epochs to the end
        assert spending.cost(3) == pytest.approx(15)
        now[0] = 10.0
        assert spending.next_group() == 16
        now[0] = 70.0
        assert spending.next_group() == 6
        spending.writing = 10.0
        assert spending.next_group() == 4
        now[0] = 87.0
        assert spending.next_group() == 1, "half of the way for one"
        now[0] = 88.0
        assert spending.next_group() == 0
        spending = Spending(Budget.of("20"), group_size=16)
        spending.trials = 16
        assert spending.next_group() == 4
        assert [spending.next_group(in_training) for in_training in (1, 4)] == [3, 0]

    def test_the_cost_of_a_group_that_is_halved(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("chebnet2d.search.budget.time.perf_counter", lambda: now[0])
        spending = Spending(Budget.of("1000s"), group_size=16, rungs=(50, 100, 200))
        spending.learn([trial([400], 400.0, pruned=False)])
        assert spending.cost(16) == pytest.approx(16 * 50 + 8 * 50 + 4 * 100 + 2 * 200)
        assert spending.cost(5) == pytest.approx(5 * 50 + 3 * 50 + 2 * 100 + 1 * 200)
        assert spending.next_group() == 8
        now[0] = 700.0
        assert spending.next_group() == 3, "no trial would end, but three get to epoch 100"
        spending.learn([trial([50], 5.0, pruned=True), trial([150], 15.0, pruned=False)])
        assert spending.cost(16) == pytest.approx(0.1 * (16 * 50 + 8 * 50 + 4 * 50))
