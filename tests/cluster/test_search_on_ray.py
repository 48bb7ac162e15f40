"""A search on Ray's own multi-node cluster on this machine."""

import json
import time
from functools import partial
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d import InputError
from chebnet2d.cluster import RayExecutor
from chebnet2d.search import loop, search
from cli_runner import run
from ray_nodes import Killer, marked, ray, with_nodes, with_ray
from small_search import FIXED, QUICK

pytestmark = pytest.mark.filterwarnings("default")
GRID = {"lr": [0.001, 0.01, 0.05], "dropout": [0.0, 0.6], "degree": [1, 2, 3, 4]}


@with_ray
class TestSearch:
    @pytest.fixture
    def data(self):
        return chebnet2d.data.load("csbm", nodes=90, classes=3, features=8, homophily=0.6, seed=0)

    def test_a_node_dies(self, cluster, data, tmp_path):
        """Groups of a grid are the same in whatever order they end: so are the trials, halving included."""
        import optuna

        class Marking(RayExecutor):
            def run(self, function, tasks, **options):
                return super().run(partial(marked, str(kill.folder), function), tasks, **options)

        kill = Killer(cluster, tmp_path / "marks")
        storage = f"sqlite:///{tmp_path}/trials.db"
        options = {"sampler": "grid", "budget": 1000, "ranges": {**GRID, **FIXED}, **QUICK}
        seen, lines = [], []

        def progress(one):
            seen.append(one)
            kill()

        spread = search(data, executor=Marking(cluster.address), storage=storage, progress=progress, log=lines.append, **options)
        kill.check(7)  # 24 points in groups of 4, and the baseline
        here = search(data, **options)
        assert spread.stopped == here.stopped == "every point was tried"
        assert len(spread.trials) == 24
        assert sorted(map(plain, spread.trials)) == sorted(map(plain, here.trials))
        assert plain(spread.baseline) == plain(here.baseline)
        assert plain(spread.best) == plain(here.best)
        assert sum(trial.pruned for trial in here.trials) > 0
        assert [one.trials for one in seen] == sorted(one.trials for one in seen)
        assert seen[0].in_training in (1, 4), "when the first ended, the other was in training: the baseline or a group"
        assert seen[-1].in_training == 0
        assert len(lines) == len(seen) == 7
        told = optuna.load_study(storage=storage, study_name="chebnet2d on csbm").trials
        assert len({json.dumps(trial.params, sort_keys=True) for trial in told}) == len(told) == 24
        assert {trial.state.name for trial in told} == {"COMPLETE", "PRUNED"}
        more = search(data, executor=RayExecutor(cluster.address), storage=storage, **options)
        assert [plain(trial) for trial in more.trials] == [plain(trial) for trial in spread.trials], "nothing was left to do"

    @pytest.mark.parametrize("sampler", ["tpe", "random"])
    def test_several_groups_of_a_sampler(self, cluster, data, sampler):
        """No point twice, and the number of trials is kept."""
        result = search(data, executor=RayExecutor(cluster.address), sampler=sampler, budget=14, baseline=False, **QUICK)
        assert result.stopped == "budget"
        assert len({json.dumps([trial.model, trial.settings]) for trial in result.trials}) == len(result.trials) == 14

    def test_one_cpu_searches_as_this_machine_does(self, started, data):
        made = with_nodes(started, 1)
        for _ in range(200):  # until the others are known to be gone
            if sum(node["Alive"] for node in ray.nodes()) == 2:
                break
            time.sleep(0.1)
        options = {"budget": 12, **QUICK}
        spread, here = (search(data, executor=where, **options) for where in (RayExecutor(made.address), None))
        assert [plain(trial) for trial in spread.trials] == [plain(trial) for trial in here.trials]
        assert spread.recipe == here.recipe

    def test_time_is_kept(self, cluster, data):
        options = {**QUICK, "epochs": 1_000_000, "patience": 1_000_000}
        result = search(data, executor=RayExecutor(cluster.address), budget="8s", **options)
        assert result.stopped == "budget"
        assert result.seconds < 8 + loop.GRACE
        assert len(result.trials) >= 4
        assert all(trial.pruned for trial in result.trials)

    def test_a_cluster_that_has_no_cpu_to_give(self, started, data, monkeypatch):
        made = with_nodes(started, 0)
        monkeypatch.setattr(loop, "GRACE", 0.5)
        lines = []
        with pytest.raises(InputError, match="budget must be enough for one trial, got 1s"):
            search(data, executor=RayExecutor(made.address), budget="1s", baseline=False, log=lines.append, **QUICK)
        assert lines == ["not back in time, and lost: 4 trials"]

    def test_interrupting_gives_the_best_so_far(self, cluster, data):
        def stop(progress):
            if progress.trials:
                raise KeyboardInterrupt

        result = search(data, executor=RayExecutor(cluster.address), budget=1000, progress=stop, **QUICK)
        assert result.stopped == "interrupted"
        assert len(result.trials) == 4


@with_ray
class TestCommand:
    """What was connected before is not; the command finds the cluster by itself."""

    @pytest.fixture(autouse=True)
    def _not_connected(self, cluster):
        ray.shutdown()

    def test_search(self, cluster, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        options = ("--budget", 6, "--splits", 2, "--epochs", 12, "--batch", 2, "--range", "degree=1,3", "--log", "log.txt")
        done = run("search", "csbm", *options, "--ray", cluster.address, "--out", "found.toml", "--json")
        record = json.loads(done.stdout)
        assert record["trials"] == 6
        mark, *lines = Path("log.txt").read_text().splitlines()
        assert (mark, len(lines)) == ("# chebnet2d log", 4)
        assert Path("found.toml").is_file()


def plain(trial):
    """A trial without the time it took, as text that can be sorted."""
    return json.dumps({name: value for name, value in vars(trial).items() if name != "seconds"}, sort_keys=True)
