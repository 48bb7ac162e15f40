"""Ray's own multi-node cluster on this machine."""

import json
import os
import re
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from ray_nodes import Cluster, Killer, divide, marked, pause, ray, square, with_nodes, with_ray

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import precompute
from chebnet2d.cluster import precompute_on_ray, run_tasks
from chebnet2d.reports import format_table, make_table
from chebnet2d.search import search
from chebnet2d.study import Catalogue, Protocol, Store, make_plan, on_ray, run_study
from cli_runner import run
from small_search import FIXED, QUICK

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def started():
    """A head that computes nothing; the tests add nodes to it and kill them."""
    with pytest.MonkeyPatch.context() as patch:
        path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def cluster(started):
    """Two nodes with a CPU each."""
    return with_nodes(started, 2)


@with_ray
class TestTasks:
    def test_a_node_dies_and_nothing_is_lost_or_done_twice(self, cluster, tmp_path):
        kill = Killer(cluster, tmp_path / "marks")
        results = []
        function = partial(marked, str(kill.folder), square)
        for key, value in run_tasks(function, {n: (n,) for n in range(8)}, address=cluster.address):
            results.append((key, value))
            kill()
        assert sorted(results) == [(n, n * n) for n in range(8)]
        kill.check(8)

    def test_an_iterator_is_asked_when_there_is_room(self, cluster):
        """Never more tasks in flight than CPUs; a task may depend on what was yielded."""
        known, in_flight, most = {0: 0}, set(), 0

        def coming():
            nonlocal most
            for key in range(1, 8):
                in_flight.add(key)
                most = max(most, len(in_flight))
                yield key, (max(known.values()) + 1,)

        for key, value in run_tasks(square, coming(), address=cluster.address):
            in_flight.remove(key)
            known[key] = value
        assert sorted(known) == list(range(8))
        assert most == 2
        assert known[7] > 1, "it was asked after others were done"

    def test_what_is_not_done_in_time_is_given_up(self, cluster):
        start = time.perf_counter()
        tasks = {0.0: (0.0,), 1000.0: (1000.0,), 1001.0: (1001.0,)}
        done = dict(run_tasks(pause, tasks, address=cluster.address, seconds=10.0))
        assert done == {0.0: "done"}
        assert time.perf_counter() - start < 100
        assert dict(run_tasks(pause, {0.0: (0.0,)}, address=cluster.address)) == {0.0: "done"}, "the CPUs are free again"

    def test_an_error_of_a_task_is_raised_here(self, cluster):
        with pytest.raises(ZeroDivisionError, match="in divide"):  # and where it was
            list(run_tasks(divide, {1: (1,), 0: (0,)}, address=cluster.address))
        with pytest.raises(InputError, match=r"^divide: number must be an integer >= -1, got -2 \(int\)\.$"):
            list(run_tasks(divide, {-2: (-2,)}, address=cluster.address))


@with_ray
class TestPrecompute:
    def test_a_node_dies(self, cluster, tmp_path, monkeypatch):
        kill = Killer(cluster, tmp_path / "marks")
        module = sys.modules["chebnet2d.cluster.precompute"]
        monkeypatch.setattr(module, "_block", partial(marked, str(kill.folder), module._block))
        data = chebnet2d.data.load("csbm", nodes=2000, classes=3, features=12, degree=10, seed=1)
        options = {"out": tmp_path / "ray", "address": cluster.address, "degree": 6, "block": 2}
        spread = precompute_on_ray(data, progress=kill, **options)
        kill.check(6)
        here = precompute(data, out=tmp_path / "here", degree=6, block=2)
        rows = torch.arange(0, 2000, 7)
        torch.testing.assert_close(spread.terms(rows), here.terms(rows), atol=1e-6, rtol=1e-5)
        assert spread.plan == here.plan
        assert len(precompute_on_ray(data, progress=pytest.fail, **options)) == 2000, "nothing is left to do"

    def test_blocks_that_are_there_are_not_computed_again(self, cluster, tmp_path):
        data = chebnet2d.data.load("csbm", nodes=500, classes=3, features=8, degree=6, seed=1)

        def stop(progress):
            if progress.block == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            precompute(data, out=tmp_path / "b", degree=3, block=2, progress=stop)
        seen = []
        precompute_on_ray(data, out=tmp_path / "b", address=cluster.address, degree=3, block=2, progress=seen.append)
        assert sorted(progress.block for progress in seen) == [1, 2, 3]
        assert seen[-1].done == seen[-1].total


@with_ray
class TestStudy:
    PROTOCOL = Protocol(("mlp", "gprgnn"), ("digits",), splits=5, inits=1, epochs=5, width=1)

    def test_a_node_dies(self, cluster, tmp_path, monkeypatch):
        kill = Killer(cluster, tmp_path / "marks")
        monkeypatch.setattr(on_ray, "_trained", partial(marked, str(kill.folder), on_ray._trained))
        seen, lines = [], []

        def progress(one):
            seen.append(one)
            kill()

        run_study_on_ray = on_ray.run_study_on_ray
        run_study_on_ray(self.PROTOCOL, tmp_path / "ray.sqlite", cluster.address, progress=progress, log=lines.append)
        run_study(self.PROTOCOL, tmp_path / "here.sqlite")
        spread, here = (rows(tmp_path / f"{name}.sqlite") for name in ("ray", "here"))
        kill.check(len(seen))
        assert len({row["unit_id"] for row in here}) == len(seen) == len(lines) >= 4
        assert len(spread) == len({row["run_id"] for row in spread}) == 10
        for ours, theirs in zip(spread, here, strict=True):
            assert {k: v for k, v in ours.items() if k in EQUAL} == {k: v for k, v in theirs.items() if k in EQUAL}
            assert ours["val_loss"] == pytest.approx(theirs["val_loss"], rel=1e-5)
        assert format_table(make_table(spread), "markdown") == format_table(make_table(here), "markdown")
        assert [one.runs_done for one in seen] == sorted({one.runs_done for one in seen})
        assert (seen[-1].runs_done, seen[-1].runs, seen[-1].epochs_done) == (10, 10, 50)
        run_study_on_ray(self.PROTOCOL, tmp_path / "ray.sqlite", cluster.address, progress=pytest.fail)

    def test_other_data_on_a_node(self, cluster):
        """As if the driver had found another graph: the tasks refuse theirs."""
        (unit, *_) = make_plan(self.PROTOCOL, Catalogue())
        with pytest.raises(InputError, match="study: 'digits' must be the same on every node, got another one in '/data' of "):
            list(run_tasks(on_ray._trained, {0: (replace(unit, dataset_digest="other"),)}, address=cluster.address, shared=ROOT))


ROOT = Path("/data")
EQUAL = {"run_id", "unit_id", "method", "dataset", "split_seed", "seed", "test_metric", "best_epoch", "epochs", "split_digest"}
GRID = {"lr": [0.001, 0.01, 0.05], "dropout": [0.0, 0.6], "degree": [1, 2, 3, 4]}


@with_ray
class TestSearch:
    @pytest.fixture
    def data(self):
        return chebnet2d.data.load("csbm", nodes=90, classes=3, features=8, homophily=0.6, seed=0)

    def test_a_node_dies(self, cluster, data, tmp_path, monkeypatch):
        """Batches of a grid are the same in whatever order they end: so are the trials, halving included."""
        import optuna

        kill = Killer(cluster, tmp_path / "marks")
        monkeypatch.setattr(on_ray, "_train", partial(marked, str(kill.folder), on_ray._train))
        storage = f"sqlite:///{tmp_path}/trials.db"
        options = {"sampler": "grid", "budget": 1000, "ranges": {**GRID, **FIXED}, **QUICK}
        seen, lines = [], []

        def progress(one):
            seen.append(one)
            kill()

        spread = search(data, ray=cluster.address, storage=storage, progress=progress, log=lines.append, **options)
        kill.check(7)  # 24 points in batches of 4, and the baseline
        here = search(data, **options)
        assert spread.stopped == here.stopped == "every point was tried"
        assert len(spread.trials) == 24
        assert sorted(map(plain, spread.trials)) == sorted(map(plain, here.trials))
        assert plain(spread.baseline) == plain(here.baseline)
        assert plain(spread.best) == plain(here.best)
        assert sum(trial.pruned for trial in here.trials) > 0
        assert [one.trials for one in seen] == sorted(one.trials for one in seen)
        assert max(one.in_training for one in seen) >= 4, "when a batch ended, another was in training"
        assert seen[-1].in_training == 0
        assert len(lines) == len(seen) == 7
        told = optuna.load_study(storage=storage, study_name="chebnet2d on csbm").trials
        assert len({json.dumps(trial.params, sort_keys=True) for trial in told}) == len(told) == 24
        assert {trial.state.name for trial in told} == {"COMPLETE", "PRUNED"}
        more = search(data, ray=cluster.address, storage=storage, **options)
        assert [plain(trial) for trial in more.trials] == [plain(trial) for trial in spread.trials], "nothing was left to do"

    @pytest.mark.parametrize("sampler", ["tpe", "random"])
    def test_several_batches_of_a_sampler(self, cluster, data, sampler):
        """No point twice, and the number of trials is kept."""
        result = search(data, ray=cluster.address, sampler=sampler, budget=14, baseline=False, **QUICK)
        assert result.stopped == "budget"
        assert len({json.dumps([trial.model, trial.settings]) for trial in result.trials}) == len(result.trials) == 14

    def test_one_cpu_searches_as_this_machine_does(self, started, data):
        made = with_nodes(started, 1)
        for _ in range(200):  # until the others are known to be gone
            if sum(node["Alive"] for node in ray.nodes()) == 2:
                break
            time.sleep(0.1)
        options = {"budget": 12, **QUICK}
        spread, here = (search(data, ray=address, **options) for address in (made.address, None))
        assert [plain(trial) for trial in spread.trials] == [plain(trial) for trial in here.trials]
        assert spread.preset == here.preset

    def test_time_is_kept(self, cluster, data):
        options = {**QUICK, "epochs": 1_000_000, "patience": 1_000_000}
        result = search(data, ray=cluster.address, budget="8s", **options)
        assert result.stopped == "budget"
        assert result.seconds < 8 + on_ray.GRACE
        assert len(result.trials) >= 4
        assert all(trial.pruned for trial in result.trials)

    def test_a_cluster_that_has_no_cpu_to_give(self, started, data, monkeypatch):
        made = with_nodes(started, 0)
        monkeypatch.setattr(on_ray, "GRACE", 0.5)
        lines = []
        with pytest.raises(InputError, match="budget must be enough for one trial, got 1s"):
            search(data, ray=made.address, budget="1s", baseline=False, log=lines.append, **QUICK)
        assert lines == ["not back in time, and lost: 4 trials"]

    def test_interrupting_gives_the_best_so_far(self, cluster, data):
        def stop(progress):
            if progress.trials:
                raise KeyboardInterrupt

        result = search(data, ray=cluster.address, budget=1000, progress=stop, **QUICK)
        assert result.stopped == "interrupted"
        assert len(result.trials) == 4


@with_ray
class TestConnecting:
    """What was connected before is not; the commands find the cluster by themselves."""

    @pytest.fixture(autouse=True)
    def _not_connected(self, cluster):
        ray.shutdown()

    def test_no_cluster_at_the_address(self):
        with pytest.raises(InputError, match="must be the address of a running Ray cluster"):
            list(run_tasks(len, {1: ()}, address="127.0.0.1:1"))
        with pytest.raises(InputError, match="address must be that of a Ray cluster"):
            list(run_tasks(len, {1: ()}, address=""))

    def test_study(self, cluster, tmp_path, monkeypatch):
        """From a folder that the nodes do not work in, with a store relative to it."""
        monkeypatch.chdir(tmp_path)
        options = ("--methods", "mlp", "--datasets", "csbm", "--splits", 2, "--inits", 1, "--epochs", 3)
        done = run("study", "run", *options, "--ray", cluster.address, "--log", "log.txt", "--store", "a.sqlite")
        assert re.search(r"mlp.*csbm.*2", done.stdout)
        assert "raylet" not in done.stdout
        assert len(rows(tmp_path / "a.sqlite")) == 2
        (line,) = Path("log.txt").read_text().splitlines()
        assert re.search("mlp on csbm.*: 2 runs in ", line)
        run("study", "run", *options, "--store", "b.sqlite", "--reuse", "a.sqlite")
        assert rows(tmp_path / "a.sqlite") == rows(tmp_path / "b.sqlite")
        again = run("study", "run", *options, "--ray", "127.0.0.1:1", "--store", "c.sqlite", code=2)
        assert "must be the address of a running Ray cluster" in " ".join(again.stderr.split())
        assert not Path("c.sqlite").exists()

    def test_search(self, cluster, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        options = ("--budget", 6, "--splits", 2, "--epochs", 12, "--batch", 2, "--range", "degree=1,3", "--log", "log.txt")
        done = run("search", "csbm", *options, "--ray", cluster.address, "--out", "found.toml", "--json")
        record = json.loads(done.stdout)
        assert record["trials"] == 6
        assert len(Path("log.txt").read_text().splitlines()) == 4
        assert Path("found.toml").is_file()


def rows(path):
    with Store(path, create=False) as store:
        return list(store.rows())


def plain(trial):
    """A trial without the time it took, as text that can be sorted."""
    return json.dumps({name: value for name, value in vars(trial).items() if name != "seconds"}, sort_keys=True)
