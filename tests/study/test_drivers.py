"""The driver of a study: units are claimed when there is room, and released when something goes wrong."""

import pytest

import chebnet2d
from chebnet2d.cluster import LocalExecutor, ProcessExecutor
from chebnet2d.study import DatasetCache, Store, make_plan, run_study
from small_study import small
from stored_tables import table_of


def claims(path):
    with Store(path) as store:
        return sum(cell["working"] for cell in store.progress())


@pytest.fixture
def protocol(preset):
    return small(preset, datasets=("csbm",), splits=4, inits=3, epochs=3)  # three units


def test_units_are_claimed_one_by_one(protocol, tmp_path):
    path = tmp_path / "s.sqlite"
    seen = []
    run_study(protocol, path, progress=lambda now: seen.append((now.epoch is None, claims(path))))
    assert set(seen) == {(False, 1), (True, 0)}


@pytest.mark.parametrize("reason", [KeyboardInterrupt, ValueError])
def test_what_goes_wrong_releases_the_claims(protocol, tmp_path, reason):
    path = tmp_path / "s.sqlite"

    def stop(now):
        if now.runs_done:
            raise reason

    with pytest.raises(reason):
        run_study(protocol, path, progress=stop)
    assert claims(path) == 0
    with Store(path) as store:
        assert len(list(store.rows())) == 4, "what was finished stays"
    run_study(protocol, path)
    run_study(protocol, tmp_path / "calm.sqlite")
    assert table_of(path) == table_of(tmp_path / "calm.sqlite")


def test_two_drivers_share_a_store(protocol, tmp_path):
    """While one trains its first unit, the other does the rest."""
    path = tmp_path / "s.sqlite"
    lines, others = [], []

    def start_another(now):
        if now.epoch is not None and not others:
            others.append("begun")
            run_study(protocol, path, log=others.append)

    run_study(protocol, path, progress=start_another, log=lines.append)
    assert (len(lines), len(others)) == (1, 3)
    with Store(path) as store:
        assert len({row["run_id"] for row in store.rows()}) == 12


def test_progress_counts_runs_and_epochs(protocol, tmp_path):
    for executor in (LocalExecutor(), ProcessExecutor(2)):
        seen = []
        run_study(protocol, tmp_path / f"{type(executor).__name__}.sqlite", executor=executor, progress=seen.append)
        ends = [now for now in seen if now.epoch is None]
        assert [now.runs_done for now in ends] == [4, 8, 12]
        assert [now.epochs_done for now in ends] == [12, 24, 36]
        assert {now.runs for now in seen} == {12}
    assert table_of(tmp_path / "LocalExecutor.sqlite") == table_of(tmp_path / "ProcessExecutor.sqlite")


def test_other_data_where_a_unit_is_trained_is_noticed(protocol, monkeypatch):
    (unit, *_) = make_plan(protocol, DatasetCache())
    monkeypatch.setattr("chebnet2d.data.load", lambda *_, **__: chebnet2d.data.csbm(seed=7))
    with pytest.raises(chebnet2d.InputError, match="the dataset 'csbm' must be the same wherever a unit is trained"):
        chebnet2d.study.train_unit(DatasetCache(), unit)


def test_what_is_no_executor_is_refused(protocol, tmp_path):
    with pytest.raises(chebnet2d.InputError, match="executor must be an object with slots and run"):
        run_study(protocol, tmp_path / "s.sqlite", executor=4)
    assert not list(tmp_path.glob("*.sqlite"))
