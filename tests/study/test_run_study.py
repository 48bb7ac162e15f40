"""Running a study: rows, second starts, killed and parallel processes, stacks."""

import multiprocessing
import os
import random
import signal
import time

import pytest
import torch

import chebnet2d
from chebnet2d.cluster import ProcessExecutor
from chebnet2d.study import Store, run_study
from chebnet2d.training import Run, Settings, fit_many
from small_selection import searched
from small_study import small
from stored_tables import study_in_child, table_of


def test_rows_hold_what_was_done(preset, tmp_path):
    protocol = small(preset)
    run_study(protocol, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        rows = list(store.rows())
        assert store.protocol == protocol
    assert len(rows) == 12
    row = rows[3]
    data = chebnet2d.data.load("csbm")
    split = chebnet2d.data.split(data, "uniform", seed=row["split_seed"])
    assert row["split_digest"] == split.digest
    assert row["dataset_digest"] == chebnet2d.data.dataset_digest(data)
    assert row["config"]["settings"]["lr"] == 0.02
    assert row["versions"]["torch"] == torch.__version__
    assert row["epochs"] == 12
    assert row["peak_mib"] > 10
    model = chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), hidden_channels=8, degree=3, dropout=0.3)
    alone = chebnet2d.fit(model, data, split, seed=row["seed"], lr=0.02, epochs=12)
    assert row["test"] == pytest.approx(alone.test, abs=0.02), "a run of the store is a call of the library"
    assert row["val_loss"] == pytest.approx(alone.val_loss, abs=1e-3)


def test_a_second_start_does_nothing(preset, tmp_path):
    path = tmp_path / "s.sqlite"
    run_study(small(preset), path)
    before = table_of(path)
    seen = []
    run_study(small(preset), path, progress=seen.append)
    assert seen == []
    assert table_of(path) == before


@pytest.mark.attack
@pytest.mark.parametrize(("mode", "kills_wanted", "rows_wanted"), [(None, 20, 24), ("development", 6, 12), ("nested", 6, 12)])
def test_killed_at_random_moments_the_table_is_the_same(mode, kills_wanted, rows_wanted, preset, tmp_path):
    """SIGKILL at random moments, start again each time; the final table equals that of an undisturbed study."""
    protocol = small(preset, datasets=("csbm",), splits=6, inits=4, epochs=15) if mode is None else searched(mode)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chebnet2d.study", "chebnet2d.training.tasks", "sklearn.datasets", "sklearn.neighbors"])

    def child(path):
        process = context.Process(target=study_in_child, args=(protocol.to_json(), str(path)))
        process.start()
        return process

    child(tmp_path / "warm-up.sqlite").join()  # starts the server that forks the children
    start = time.perf_counter()
    undisturbed = child(tmp_path / "calm.sqlite")
    undisturbed.join()
    whole = time.perf_counter() - start
    assert undisturbed.exitcode == 0
    expected = table_of(tmp_path / "calm.sqlite")
    rng = random.Random(0)
    kills = studies = 0
    while kills < kills_wanted:  # a study that gets through is checked, and the storm goes on with a new one
        path = tmp_path / f"storm-{studies}.sqlite"
        finished = False
        while not finished:
            process = child(path)
            process.join(timeout=rng.uniform(0, 0.5 * whole))
            finished = not process.is_alive()
            if not finished:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.join()
        studies += 1
        assert process.exitcode == 0
        with Store(path) as store:
            rows = list(store.rows())
        assert len(rows) == len({row["run_id"] for row in rows}) == rows_wanted
        assert table_of(path) == expected


def test_several_processes_share_a_store(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), splits=4)
    lines = []
    run_study(protocol, tmp_path / "two.sqlite", executor=ProcessExecutor(2), log=lines.append)
    with Store(tmp_path / "two.sqlite") as store:
        assert len(list(store.rows())) == 8
        assert all(cell["done"] == cell["runs"] for cell in store.progress())
    assert [line.split(" in ")[0] for line in lines] == ["chebnet2d on csbm, uniform: 4 runs"] * 2


def test_stacks_of_a_study_equal_runs_alone(preset, tmp_path):
    """The store's numbers are those of fit_many with the same stacks: nothing in between changes them."""
    run_study(small(preset, datasets=("csbm",), width=3), tmp_path / "s.sqlite")
    data = chebnet2d.data.load("csbm")
    with Store(tmp_path / "s.sqlite") as store:
        rows = list(store.rows())
    runs = [
        Run(
            chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), hidden_channels=8, degree=3, dropout=0.3),
            chebnet2d.data.split(data, "uniform", seed=row["split_seed"]),
            row["seed"],
            Settings.of(lr=0.02, epochs=12),
        )
        for row in rows
    ]
    assert [r.val_loss for r in fit_many(runs, data, width=3)] == [row["val_loss"] for row in rows]
