"""What a run costs is its own, and a study says before it begins what it will cost."""

import itertools
import json
import time
from types import SimpleNamespace

import pytest
import torch

import chebnet2d
from chebnet2d.study import Store, estimate_study, peak, run_study
from chebnet2d.study.peak import KERNEL, SAMPLED, PeakMemory
from chebnet2d.training import Run, Settings, fit_many
from small_study import small

MIB = 2**20


def hold(mib):
    """That much memory, touched, and given back."""
    return bytes(torch.ones(mib * MIB, dtype=torch.uint8)[:1])


@pytest.fixture(params=[KERNEL, SAMPLED])
def how(request, monkeypatch, tmp_path):
    if request.param == SAMPLED:
        monkeypatch.setattr(peak, "_RESET", tmp_path / "no" / "such" / "file")
    elif not peak._RESET.exists():  # pragma: no cover
        pytest.skip("the kernel does not count")
    return request.param


def test_the_peak_is_that_of_the_work_and_not_of_the_process(how):
    hold(600)
    with PeakMemory() as small_work:
        hold(10)
        time.sleep(0.05)
    with PeakMemory() as large_work:
        held = torch.ones(400 * MIB, dtype=torch.uint8)
        time.sleep(0.1)
        del held
    assert small_work.how == large_work.how == how
    assert 350 < large_work.mib - small_work.mib < 450


def test_rows_have_the_peak_of_their_unit(preset, tmp_path):
    hold(600)
    with PeakMemory() as before:
        pass
    run_study(small(preset, datasets=("csbm",), splits=1, inits=1, epochs=2), tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite", create=False) as store:
        (row,) = store.rows()
    assert 10 < row["peak_mib"] < before.mib + 300
    assert row["machine"]["peak"] in (KERNEL, SAMPLED)


def test_an_epoch_belongs_to_the_runs_that_were_in_it(monkeypatch):
    """A run that leaves its stack after two epochs has no part in the others; together they have all of the time."""
    data = chebnet2d.data.load("csbm")
    split = chebnet2d.data.split(data, "uniform", seed=0)
    clock = itertools.count()
    monkeypatch.setattr("chebnet2d.training.loop.time", SimpleNamespace(perf_counter=lambda: next(clock) / 2))
    runs = [
        Run(chebnet2d.ChebNet2D(data.num_features, 5, hidden_channels=4, degree=2), split, seed, Settings.of(epochs=epochs))
        for seed, epochs in enumerate((2, 10))
    ]
    short, long = fit_many(runs, data, width=2)
    assert (short.epochs, long.epochs) == (2, 10)
    assert long.seconds - short.seconds == pytest.approx(8 * short.seconds, rel=1e-6), "8 epochs alone, 2 that were shared"


def test_an_estimate_counts_what_is_left_and_writes_nothing(preset, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    protocol = small(preset, splits=6, inits=2, epochs=50)
    before = sorted(tmp_path.iterdir())
    told = []
    found = estimate_study(protocol, tmp_path / "s.sqlite", progress=lambda *facts: told.append(facts))
    assert sorted(tmp_path.iterdir()) == before
    assert [(one.method, one.dataset, one.runs, one.units, one.stacks, one.epochs) for one in found] == [
        ("chebnet2d", name, 12, 3, 12, 50) for name in ("csbm", "digits")
    ]
    assert [(number, total, unit.dataset) for number, total, unit in told] == [(0, 2, "csbm"), (1, 2, "digits")]
    for one in found:
        assert one.measured == 4
        assert one.seconds == pytest.approx(12 * 50 * one.epoch_seconds)
        assert one.peak_mib > 10
    small_part = small(preset, datasets=("csbm",), splits=6, inits=2, epochs=50)
    run_study(small_part, tmp_path / "s.sqlite")
    content = (tmp_path / "s.sqlite").read_bytes()
    csbm, digits = estimate_study(protocol, reuse=[tmp_path / "s.sqlite"])
    assert (csbm.runs, csbm.seconds, csbm.epoch_seconds, csbm.peak_mib) == (0, 0.0, None, None)
    assert digits.runs == 12
    (again,) = estimate_study(small_part, tmp_path / "s.sqlite")
    assert again.runs == 0
    assert (tmp_path / "s.sqlite").read_bytes() == content


def test_an_estimate_is_bounded_in_time(preset):
    found = estimate_study(small(preset), seconds=0)
    assert [one.measured for one in found] == [1, 1]


def test_the_command(preset, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    run = ("study", "run", "--methods", "mlp", "--datasets", "csbm", "--splits", "2", "--inits", "2", "--epochs", "100")
    shown = command(*run, "--dry-run", "--log", "log.txt").out
    assert "4 runs in 1 units: at most" in shown
    assert all(word in shown for word in ("mlp", "csbm", "s per epoch", "peak MiB"))
    found = json.loads(command(*run, "--dry-run", "--json").out)
    assert (found["runs"], found["units"]) == (4, 1)
    assert found["cells"][0]["epoch_seconds"] > 0
    assert sorted(tmp_path.iterdir()) == before
    assert "--table must be 1 to 3 beside --dry-run" in command("study", "run", "--table", "4", "--dry-run").err
    assert json.loads(command(*run[:-1], "2", "--json").out)["done"] == 4
