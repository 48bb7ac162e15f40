"""Several groups of trials at a time: executors."""

import itertools
import json

import pytest

from chebnet2d.cluster import ProcessExecutor
from chebnet2d.search import make_space, search
from chebnet2d.search.trials import Trials
from search_examples import SMALL, without_time
from small_search import FIXED, QUICK


class LastFirst:
    """As on a cluster (``tests/cluster``), but in this process: three groups at a time, and the last one ends first."""

    slots = 3

    def __init__(self):
        self.seen = []
        """How many groups were in training, whenever one ended."""

    def run(self, function, tasks, *, shared=None, seconds=None, report=None):
        waiting = []
        while True:
            waiting += itertools.islice(tasks, 3 - len(waiting))
            if not waiting:
                return
            self.seen.append(len(waiting))
            group, arguments = waiting.pop()
            yield group, function(shared, *arguments)


class TestSeveralGroups:
    @pytest.fixture
    def executor(self):
        return LastFirst()

    @pytest.mark.parametrize("sampler", ["tpe", "random", "grid"])
    def test_no_point_twice_and_the_budget_is_kept(self, data, executor, tmp_path, sampler):
        options = {"sampler": sampler, "ranges": {"degree": [1, 2]}, **QUICK, "epochs": 3}
        storage = f"sqlite:///{tmp_path}/trials.db"
        seen = []
        result = search(data, budget=18, executor=executor, storage=storage, progress=seen.append, **options)
        assert executor.seen == [3, 3, 3, 3, 2, 1], "the baseline, four groups of four and one of two"
        assert [one.in_training for one in seen] == [5, 5, 5, 5, 1, 0], "the baseline was the last to end"
        assert [one.trials for one in seen] == [4, 8, 12, 14, 18, 18]
        assert len({json.dumps([t.model, t.settings]) for t in result.trials}) == len(result.trials) == 18
        assert result.stopped == "budget"
        assert result.baseline is not None
        more = search(data, budget=4, executor=executor, storage=storage, **options)
        assert more.trials[:18] == result.trials, "in the order they ended"
        assert len({json.dumps([t.model, t.settings]) for t in more.trials}) == len(more.trials) == 22

    def test_a_grid_finds_the_same_in_any_order(self, data, executor):
        options = {"sampler": "grid", "budget": 100, "ranges": {**SMALL, **FIXED, "degree": [-1, 1, 2, 3]}, **QUICK}
        there, here = (search(data, executor=where, **options) for where in (executor, None))
        assert there.stopped == here.stopped == "every point was tried"
        key = lambda t: json.dumps(without_time(t), sort_keys=True)
        assert sorted(map(key, there.trials)) == sorted(map(key, here.trials))
        assert len(here.trials) == 12, "degree -1 makes no model"
        assert max(executor.seen) == 3

    def test_groups_in_training_draw_different_points(self):
        """Each from its own random numbers, not from the grid that is left when all draws are known."""
        space = make_space("chebnet2d")
        for sampler in ("tpe", "random"):
            trials = Trials("a test", space, sampler, 0)
            groups = [trials.ask(8) for _ in range(5)]
            alone = Trials("a test", space, sampler, 0)
            assert [one.positions for one in groups[0]] == [one.positions for one in alone.ask(8)]
            points = {tuple(one.positions.values()) for group in groups for one in group}
            assert len(points) == 40
            grid = {tuple(point.values()) for point in itertools.islice(space.every_point(0), 40)}
            assert not grid & points

    def test_what_is_not_back_in_time_is_lost_and_said(self, data):
        class Forgetful(LastFirst):
            def run(self, function, tasks, *, shared=None, seconds=None, report=None):
                assert 30 < seconds <= 90, "what is left, and some grace"
                assert len(list(itertools.islice(tasks, 2))) == 2
                yield from itertools.islice(super().run(function, tasks, shared=shared), 1)

        lines = []
        result = search(data, budget="60s", executor=Forgetful(), log=lines.append, **QUICK)
        assert len(result.trials) == 4
        assert result.baseline is None, "it was the first to be lost"
        *_, last = lines
        assert sorted(last.removeprefix("not back in time, and lost: ").split(", ")) == ["4 trials"] * 3 + ["baseline"]

    def test_processes_find_what_this_one_does(self, data):
        options = {"sampler": "grid", "budget": 100, "ranges": {**SMALL, **FIXED}, **QUICK}
        there, here = (search(data, executor=where, **options) for where in (ProcessExecutor(2, threads=1), None))
        key = lambda t: json.dumps(without_time(t), sort_keys=True)
        assert sorted(map(key, there.trials)) == sorted(map(key, here.trials))
        assert there.recipe == here.recipe


OUTSIDE = """
from chebnet2d.models import find_model

class Mine(find_model("mlp")):
    search_space = {"model": {"num_layers": [1, 2]}}
"""


def test_a_method_from_a_file_with_its_own_space(data, tmp_path):
    (tmp_path / "mine.py").write_text(OUTSIDE)
    method = f"{tmp_path}/mine.py:Mine"
    ranges = {"lr": [0.01], "weight_decay": [0.0], "dropout": [0.0, 0.5]}
    options = {"sampler": "grid", "budget": 10, "ranges": ranges, "splits": 1, "epochs": 5}
    for executor in (None, ProcessExecutor(1)):
        result = search(data, method, executor=executor, **options)
        points = sorted((trial.model["num_layers"], trial.model["dropout"]) for trial in result.trials)
        assert points == [(1, 0.0), (1, 0.5), (2, 0.0), (2, 0.5)]
        assert result.recipe.method == method
