"""A study on Ray's own multi-node cluster on this machine."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from chebnet2d import InputError
from chebnet2d.cluster import RayExecutor
from chebnet2d.reports import format_table, make_table
from chebnet2d.study import DatasetCache, Protocol, Store, make_plan, read_rows, read_trials, run_study, train_unit
from cli_runner import run
from ray_nodes import Killer, marked, ray, with_ray
from small_selection import searched

pytestmark = pytest.mark.filterwarnings("default")
EQUAL = {"run_id", "unit_id", "method", "dataset", "split_seed", "seed", "test", "best_epoch", "epochs", "split_digest"}


@with_ray
class TestStudy:
    PROTOCOL = Protocol(("mlp", "gprgnn"), ("digits",), splits=5, inits=1, epochs=5, width=1)

    def test_a_node_dies(self, cluster, tmp_path, monkeypatch):
        kill = Killer(cluster, tmp_path / "marks")
        monkeypatch.setattr("chebnet2d.study.run.train_unit", partial(marked, str(kill.folder), train_unit))
        seen, lines = [], []

        def progress(one):
            seen.append(one)
            kill()

        executor = RayExecutor(cluster.address)
        run_study(self.PROTOCOL, tmp_path / "ray.sqlite", executor=executor, progress=progress, log=lines.append)
        monkeypatch.undo()
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
        run_study(self.PROTOCOL, tmp_path / "ray.sqlite", executor=executor, progress=pytest.fail)

    def test_a_study_with_a_search_inside(self, cluster, tmp_path):
        protocol = searched("nested", methods=("chebnet2d",))
        run_study(protocol, tmp_path / "ray.sqlite", executor=RayExecutor(cluster.address))
        run_study(protocol, tmp_path / "here.sqlite")
        for read in (read_rows, read_trials):
            spread, here = (read(tmp_path / f"{name}.sqlite") for name in ("ray", "here"))
            assert [(row["run_id"], row["trial"], row["test"]) for row in spread] == [
                (row["run_id"], row["trial"], row["test"]) for row in here
            ]

    def test_other_data_on_a_node(self, cluster):
        """As if the driver had found another graph: the tasks refuse theirs."""
        (unit, *_) = make_plan(self.PROTOCOL, DatasetCache())
        tasks = [(0, (replace(unit, dataset_digest="other"),))]
        with pytest.raises(InputError, match="study: the dataset 'digits' must be the same wherever a unit is trained"):
            list(RayExecutor(cluster.address).run(train_unit, tasks, shared=DatasetCache()))


@with_ray
class TestCommand:
    """What was connected before is not; the command finds the cluster by itself."""

    @pytest.fixture(autouse=True)
    def _not_connected(self, cluster):
        ray.shutdown()

    def test_study(self, cluster, tmp_path, monkeypatch):
        """From a folder that the nodes do not work in, with a store relative to it."""
        monkeypatch.chdir(tmp_path)
        options = ("--methods", "mlp", "--datasets", "csbm", "--splits", 2, "--inits", 1, "--epochs", 3)
        done = run("study", "run", *options, "--ray", cluster.address, "--log", "log.txt", "--store", "a.sqlite")
        assert re.search(r"mlp.*csbm.*2", done.stdout)
        assert "raylet" not in done.stdout
        assert len(rows(tmp_path / "a.sqlite")) == 2
        mark, line = Path("log.txt").read_text().splitlines()
        assert mark == "# chebnet2d log"
        assert re.search("mlp on csbm.*: 2 runs in ", line)
        run("study", "run", *options, "--store", "b.sqlite", "--reuse", "a.sqlite")
        assert rows(tmp_path / "a.sqlite") == rows(tmp_path / "b.sqlite")
        again = run("study", "run", *options, "--ray", "127.0.0.1:1", "--store", "c.sqlite", code=2)
        assert "must be the address of a running Ray cluster" in " ".join(again.stderr.split())
        assert not Path("c.sqlite").exists()


def rows(path):
    with Store(path, create=False) as store:
        return list(store.rows())
