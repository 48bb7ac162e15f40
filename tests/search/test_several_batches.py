"""Several batches of trials at a time."""

import contextlib
import itertools
import json
import sys

import pytest
from search_examples import SMALL, without_time

from chebnet2d.search import make_space
from chebnet2d.search.search import search
from chebnet2d.search.trials import Trials
from small_search import FIXED, QUICK


class TestSeveralBatches:
    """As on a cluster (``tests/cluster``), but in this process: three batches at a time, and the last one ends first."""

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

        module = sys.modules["chebnet2d.search.search"]
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
        key = lambda t: json.dumps(without_time(t), sort_keys=True)
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
