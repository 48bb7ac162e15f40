"""What another study has done is taken over, from a store or an export."""

from dataclasses import replace
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.study import DatasetCache, Protocol, Store, make_plan, run_study
from chebnet2d.study.export import export_rows, read_rows
from data_root import real_data_root
from small_study import PRESET, small


def test_what_another_study_has_done_is_copied(preset, tmp_path):
    shared = {"splits": 2, "inits": 1, "epochs": 3}
    run_study(small(preset, datasets=("csbm",), **shared), tmp_path / "old.sqlite")
    with Store(tmp_path / "old.sqlite") as store:
        old = list(store.rows())
    wider = small(preset, datasets=("csbm", "digits"), **shared)
    trained = []
    run_study(wider, tmp_path / "new.sqlite", reuse=[tmp_path / "old.sqlite"], progress=lambda p: trained.append(p.unit.dataset))
    assert set(trained) == {"digits"}
    with Store(tmp_path / "new.sqlite") as store:
        new = list(store.rows())
    assert [row for row in new if row["dataset"] == "csbm"] == old, "as they were, when and where they were run included"
    assert len(new) == 4


def test_another_setting_is_not_reused_and_another_origin_is(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), splits=2, inits=1, epochs=3)
    run_study(protocol, tmp_path / "old.sqlite")
    cache = DatasetCache()
    (tmp_path / "preset.toml").write_text(PRESET.replace("a test", "the same numbers, from elsewhere"))
    with Store(tmp_path / "other-origin.sqlite") as store:
        units = list(make_plan(protocol, cache))
        store.begin(protocol, units)
        assert store.take(read_rows(tmp_path / "old.sqlite")[:1], units) == 0, "half a unit is none"
        assert store.take(read_rows(tmp_path / "old.sqlite"), units) == 2
        assert store.take(read_rows(tmp_path / "old.sqlite"), units) == 0, "they are here already"
        assert {row["config"]["origin"] for row in store.rows()} == {"the same numbers, from elsewhere"}
    (tmp_path / "preset.toml").write_text(PRESET.replace("0.02", "0.03"))
    with Store(tmp_path / "other-setting.sqlite") as store:
        units = list(make_plan(protocol, cache))
        store.begin(protocol, units)
        assert store.take(read_rows(tmp_path / "old.sqlite"), units) == 0


@pytest.mark.parametrize("ending", [".parquet", ".json"])
def test_an_exported_study_is_read_as_it_was(ending, preset, tmp_path):
    run_study(small(preset, datasets=("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
    export_rows(tmp_path / "s.sqlite", tmp_path / f"runs{ending}")
    assert read_rows(tmp_path / f"runs{ending}") == read_rows(tmp_path / "s.sqlite")
    (tmp_path / f"bad{ending}").write_text("something,else\n1,2\n")
    with pytest.raises(chebnet2d.InputError, match="reuse must be a store or an exported study, got .*bad"):
        read_rows(tmp_path / f"bad{ending}")
    with pytest.raises(chebnet2d.InputError, match="which does not exist"):
        read_rows(tmp_path / f"none{ending}")
    with pytest.raises(chebnet2d.InputError, match="in Parquet or JSON, got .*runs.csv"):
        read_rows(tmp_path / "runs.csv")


def test_the_runs_of_the_committed_study_are_found(tmp_path):
    """Ids of runs depend on the form of recipes: a change of it would cost thousands of runs. Stacks were narrower then."""
    results = Path(__file__).parents[2] / "results"
    protocol = replace(Protocol.from_toml(results / "baselines.toml"), datasets=("texas",), limits={})
    units = list(make_plan(protocol, DatasetCache(real_data_root())))
    known = [row for row in read_rows(results / "baselines.parquet") if row["dataset"] == "texas"]
    assert len(known) == 21 * 2 * 10
    assert {unit.run_id(*seeds) for unit in units for seeds in unit.seeds} == {row["run_id"] for row in known}
    with Store(tmp_path / "again.sqlite") as store:
        store.begin(protocol, units)
        assert store.take(known, units) == len(known)
        assert {row["run_id"] for row in store.rows()} == {row["run_id"] for row in known}
