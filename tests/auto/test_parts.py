"""Folds, schedule, choice and intervals, each against its definition."""

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch
from sklearn.metrics import accuracy_score

from chebnet2d.auto.candidate import Answers, Candidate, Outcome, Status
from chebnet2d.auto.choice import best_of_entries, members_of
from chebnet2d.auto.clock import Clock
from chebnet2d.auto.leaderboard import graph_gain, interval, leaderboard, sentence_of
from chebnet2d.auto.portfolio import PORTFOLIO, Entry, is_bound, make_portfolio
from chebnet2d.auto.problem import Problem
from chebnet2d.auto.schedule import Schedule
from chebnet2d.auto.training import train
from chebnet2d.auto.work import Work, answers_of, models_of
from chebnet2d.recipes import Recipe
from small_auto import METHODS, graph


@pytest.fixture(scope="module")
def problem():
    return Problem.of(graph(), None, None, None, 3, 0)


class TestFolds:
    @pytest.mark.parametrize("repeat", [0, 1])
    def test_every_node_scores_once_and_never_where_it_trained_or_stopped(self, problem, repeat):
        splits = problem.splits(repeat)
        assert torch.equal(torch.cat([split.test for split in splits]).sort().values, problem.pool)
        for split in splits:
            parts = torch.cat([split.train, split.val, split.test])
            assert torch.equal(parts.sort().values, problem.pool)
            assert split.val.numel() > 0
        assert not set(problem.pool.tolist()) & set(problem.test.tolist())

    def test_partitions_differ_by_repeat_and_seed(self, problem):
        other = Problem.of(graph(), None, None, None, 3, 1)
        digests = {one.splits(repeat)[0].digest for one in (problem, other) for repeat in (0, 1)}
        assert len(digests) == 4

    def test_labels_outside_of_the_pool_are_not_there(self, problem):
        assert (problem.data.y[problem.test] == -1).all()

    def test_a_class_of_one_node_is_no_obstacle(self):
        data = graph()
        data.y[data.y == 2] = 0
        data.y[0], data.num_classes = 2, 3
        splits = Problem.of(data, "none", None, None, 3, 0).splits(0)
        assert sum(int((data.y[split.test] == 2).sum()) for split in splits) == 1


class TestTraining:
    def test_scores_are_those_of_models_that_have_not_seen_the_node(self, problem, tmp_path):
        """By scikit-learn, from the models on the disk."""
        recipe = make_portfolio(problem.data, ["logistic:neighbours"])[0].recipe
        trained = train(problem, Candidate("logistic:neighbours", 0, 0, recipe), math.inf, math.inf)
        assert isinstance(trained, tuple)
        with Work.opened(tmp_path, "d") as work:
            outcome = work.put(*trained, 1.0)
        y = graph().y.numpy()
        for split, model, score in zip(problem.splits(0), models_of(outcome), outcome.fold_scores, strict=True):
            labels = model.predict(problem.data).labels.numpy()
            assert score == pytest.approx(accuracy_score(y[split.test], labels[split.test]))
        assert answers_of(outcome).out_of_fold.shape == (problem.pool.numel(), 3)

    def test_a_candidate_without_time_is_not_finished(self, problem):
        recipe = make_portfolio(problem.data, ["mlp"])[0].recipe
        status = train(problem, Candidate("mlp", 0, 0, recipe), math.inf, 0.0)
        assert isinstance(status, Status)
        assert status.word == "not finished"

    def test_one_that_would_take_too_long_is_given_up_after_its_first_epochs(self, problem):
        recipe = make_portfolio(problem.data, ["mlp"])[0].recipe
        status = train(problem, Candidate("mlp", 0, 0, recipe), 1e-6, math.inf)
        assert isinstance(status, Status)
        assert status.need > 1e-6

    def test_settings_that_make_no_model_have_failed(self, problem):
        status = train(problem, Candidate("gprgnn", 0, 0, Recipe("gprgnn", model={"degree": -1})), math.inf, math.inf)
        assert isinstance(status, Status)
        assert status.word == "failed"


class FakeClock(Clock):
    """Time passes when it is told to."""

    def __init__(self, budget):
        super().__init__(budget)
        self.now = 0.0

    @property
    def seconds(self):
        return self.now


def simulated(problem, budget, costs, scores, folder):
    """A schedule whose candidates cost and reach what the tables say; what was tried, in order."""
    entries = [entry for entry in make_portfolio(problem.data) if entry.name in costs]
    clock, tried = FakeClock(budget), []
    with Work.opened(folder, "d") as work:
        schedule = Schedule(problem, entries, work, clock)
        while (chosen := schedule.next()) is not None:
            own = chosen.candidate
            tried.append(own.id)
            cost = costs[own.entry]
            if cost > chosen.expected:
                clock.now += 0.02 * cost
                schedule.missed[own.id] = Status("not finished", "slow", cost)
            elif cost > chosen.limit:
                clock.now += chosen.limit
                schedule.missed[own.id] = Status("not finished", "cut off", None)
            else:
                clock.now += cost
                schedule.missed.pop(own.id, None)
                score = scores[own.entry] + 0.001 * own.number
                answers = torch.full((problem.pool.numel(), 3), 1 / 3)
                outcome = Outcome(own, [score] * 3, [1] * 3, cost, Path())
                work.put(outcome, Answers(answers, torch.zeros(problem.data.num_nodes, 3)), [], clock.now)
        return tried, clock.now, schedule


COSTS = {"majority": 0.1, "logistic:features": 1, "boosting:neighbours": 3, "mlp": 5, "gprgnn": 10, "chebnet2d": 12, "linkx": 400}
SCORES = {"majority": 0.3, "logistic:features": 0.6, "boosting:neighbours": 0.7, "mlp": 0.65, "gprgnn": 0.9, "chebnet2d": 0.8}


class TestSchedule:
    def test_defaults_come_first_and_the_time_is_kept(self, problem, tmp_path):
        tried, seconds, schedule = simulated(problem, "600s", COSTS, {**SCORES, "linkx": 0.5}, tmp_path)
        assert tried[:7] == [f"{line.name.replace(':', '-')}.0.0" for line in PORTFOLIO if line.name in COSTS]
        assert seconds <= 0.9 * 600
        assert "linkx.0.0" in schedule.missed
        draws = [name.split(".")[0] for name in tried[7:] if not name.endswith(".0.0") and name.endswith(".0")]
        assert draws.count("gprgnn") > draws.count("boosting-neighbours") > 0
        assert "majority" not in draws
        assert any(name.endswith(".1") for name in tried)  # the best once more, on other folds

    def test_a_slow_default_has_a_second_chance_if_it_leaves_time_for_others(self, problem, tmp_path):
        costs = {"majority": 0.1, "mlp": 2, "gprgnn": 150}
        tried, seconds, schedule = simulated(problem, "300s", costs, SCORES, tmp_path / "enough")
        assert tried.count("gprgnn.0.0") == 2
        assert "gprgnn.0.0" in schedule.outcomes
        assert seconds <= 270
        tried, seconds, schedule = simulated(problem, "300s", {**costs, "gprgnn": 200}, SCORES, tmp_path / "too much")
        assert tried.count("gprgnn.0.0") == 1
        assert "gprgnn.0.0" in schedule.missed

    def test_a_number_of_candidates_is_exact(self, problem, tmp_path):
        tried, _, _ = simulated(problem, 12, {**COSTS, "linkx": 1}, {**SCORES, "linkx": 0.5}, tmp_path)
        assert len(tried) == len(set(tried)) == 12


def outcome_of(entry, scores, folder=Path(), number=0):
    return Outcome(Candidate(entry, number, 0, Recipe("mlp")), scores, [1] * len(scores), 1.0, folder)


class TestChoice:
    def test_the_best_of_each_entry(self):
        outcomes = [outcome_of("a", [0.5, 0.7]), outcome_of("a", [0.9, 0.7], number=1), outcome_of("b", [math.nan, 0.95])]
        assert [(name, one.candidate.number) for name, one in best_of_entries(outcomes).items()] == [("b", 0), ("a", 1)]

    def test_equal_answers_add_no_member(self, problem, tmp_path):
        recipe = make_portfolio(problem.data, ["logistic:neighbours"])[0].recipe
        with Work.opened(tmp_path, "d") as work:
            for entry in ("one", "two"):
                trained = train(problem, Candidate(entry, 0, 0, recipe), math.inf, math.inf)
                assert isinstance(trained, tuple)
                work.put(*trained, 1.0)
            assert len(members_of(problem, list(work.outcomes.values()))) == 1


class TestIntervals:
    def test_corrected_for_shared_training_nodes(self):
        scores = [0.8, 0.82, 0.79, 0.85, 0.8]
        error = math.sqrt((1 / 5 + 1 / 4) * np.var(scores, ddof=1))
        low, high = scipy.stats.t.interval(0.95, 4, loc=np.mean(scores), scale=error)
        assert interval(scores) == pytest.approx((low, high))

    ENTRIES = (Entry("plain", Recipe("mlp"), False), Entry("deep", Recipe("gprgnn"), True))

    def test_a_gain_is_told_with_its_interval(self):
        outcomes = [outcome_of("plain", [0.6, 0.61, 0.6, 0.6, 0.61]), outcome_of("deep", [0.7, 0.71, 0.71, 0.7, 0.71])]
        gain = graph_gain(self.ENTRIES, outcomes, "accuracy")
        assert gain["difference"] == pytest.approx(0.102)
        assert sentence_of(gain).startswith("The graph adds to the features: +10.2 points of accuracy (95 % interval +9.")

    def test_nothing_is_told_as_nothing(self):
        outcomes = [outcome_of("plain", [0.6, 0.7, 0.6, 0.5, 0.6]), outcome_of("deep", [0.7, 0.5, 0.65, 0.6, 0.6])]
        sentence = sentence_of(graph_gain(self.ENTRIES, outcomes, "accuracy"))
        assert sentence.startswith("The graph adds nothing to the features that can be told from chance: +1.0")
        assert sentence.endswith("deep against plain. Take plain.")

    def test_an_unfinished_entry_is_listed_and_not_compared(self):
        outcomes = [outcome_of("plain", [0.6, 0.61, 0.6])]
        rows = leaderboard(self.ENTRIES, outcomes, {"deep.0.0": Status("not finished", "cut off after 9 s")}, outcomes)
        assert [(row["method"], row["status"]) for row in rows] == [
            ("plain", "finished"),
            ("deep", "not finished: cut off after 9 s"),
        ]
        assert rows[1]["score"] is None
        assert graph_gain(self.ENTRIES, outcomes, "accuracy") is None


class TestPortfolio:
    def test_inductive_holds_nothing_that_is_bound(self, problem):
        every, free = make_portfolio(problem.data), make_portfolio(problem.data, inductive=True)
        assert [entry.name for entry in every] == [line.name for line in PORTFOLIO]
        assert {entry.name for entry in every} - {entry.name for entry in free} == {"linkx"}
        assert not any(is_bound(entry.recipe, problem.data) for entry in free)

    def test_trees_for_many_classes_and_columns_come_after_the_cheap_networks(self):
        few, many = (make_portfolio(graph(classes=7, features=columns)) for columns in (2, 64))
        early, late = ([entry.name for entry in entries] for entries in (few, many))
        assert early.index("boosting:labels") < early.index("mlp")
        assert late.index("gprgnn") < late.index("boosting:features") < late.index("chebnet2d")
        assert sorted(early) == sorted(late)

    def test_methods_by_entry_by_method_and_by_any_spelling(self, problem):
        names = [entry.name for entry in make_portfolio(problem.data, [*METHODS, "gprgnn:unified"])]
        assert names == ["majority", "logistic:features", "logistic:neighbours", "gprgnn:unified"]
        deep = {entry.name: entry.recipe for entry in make_portfolio(problem.data, ["tuned-sage"])}
        assert list(deep) == ["tuned-sage", "tuned-sage:deep"]
        assert (deep["tuned-sage:deep"].model["num_layers"], deep["tuned-sage:deep"].settings["weight_decay"]) == (6, 0.0)
        looks = {entry.name: entry.graph for entry in make_portfolio(problem.data)}
        assert {name for name, graph in looks.items() if not graph} == {
            "majority",
            "logistic:features",
            "mlp",
            "boosting:features",
        }
