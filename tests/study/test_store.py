"""The store: one study per file, claims, and what another protocol or preset does."""

import contextlib
import json
import sqlite3

import pytest

import chebnet2d
from chebnet2d.study import DatasetCache, Store, make_plan, run_study, train_unit
from small_study import PRESET, small


def test_other_protocol_needs_another_store(preset, tmp_path):
    run_study(small(preset, datasets=("csbm",)), tmp_path / "s.sqlite")
    with pytest.raises(chebnet2d.InputError, match="holds a study whose splits differ"):
        run_study(small(preset, datasets=("csbm",), splits=2), tmp_path / "s.sqlite")


def test_a_start_that_fails_leaves_no_store(preset, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(chebnet2d.InputError, match="kind 'fixed' must have masks in csbm"):
        run_study(small(preset, datasets=("csbm",), split="fixed"), "s.sqlite")
    with pytest.raises(chebnet2d.InputError, match="reuse must be a study, got 'none.json'"):
        run_study(small(preset), "s.sqlite", reuse=["none.json"])
    (tmp_path / "preset.toml").write_text("[default]\nmodel = { depth = 3 }")
    with pytest.raises(chebnet2d.InputError, match="the arguments of 'chebnet2d' must be those of ChebNet2D"):
        run_study(small(preset), "s.sqlite")
    (tmp_path / "preset.toml").write_text("[default]\nsettings = { luck = 3 }")
    with pytest.raises(chebnet2d.InputError, match="luck"):
        run_study(small(preset), "s.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["preset.toml"]


def test_a_store_without_finished_runs_takes_another_protocol(preset, tmp_path):
    first, second = (small(preset, datasets=("csbm",), splits=splits) for splits in (3, 2))
    cache = DatasetCache()
    old, new = (list(make_plan(protocol, cache)) for protocol in (first, second))
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(first, old)
        assert store.claim(old[0])
        with pytest.raises(chebnet2d.InputError, match="holds a study whose splits differ"):
            store.begin(second, new)  # this process, which lives, works on the first
        store.release(old[0])
        store.begin(second, new)
        assert store.protocol == second
        assert [(cell["runs"], cell["done"]) for cell in store.progress()] == [(4, 0)]
        with pytest.raises(chebnet2d.InputError, match="must hold this study, got another one that was begun meanwhile"):
            store.claim(old[0])


def test_a_study_begun_before_limits_existed_goes_on(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), splits=1, inits=1)
    run_study(protocol, tmp_path / "s.sqlite")
    with contextlib.closing(sqlite3.connect(tmp_path / "s.sqlite")) as connection, connection:
        older = {name: value for name, value in protocol.to_json().items() if name != "limits"}
        connection.execute("UPDATE meta SET value = ? WHERE key = 'protocol'", (json.dumps(older),))
    run_study(protocol, tmp_path / "s.sqlite")


def test_changed_preset_is_noticed(preset, tmp_path):
    run_study(small(preset, datasets=("csbm",)), tmp_path / "s.sqlite")
    (tmp_path / "preset.toml").write_text(PRESET.replace("0.02", "0.03"))
    with pytest.raises(chebnet2d.InputError, match="the data or the presets must be those"):
        run_study(small(preset, datasets=("csbm",)), tmp_path / "s.sqlite")


def test_units_are_never_written_twice(preset, tmp_path):
    protocol, cache = small(preset, datasets=("csbm",)), DatasetCache()
    units = list(make_plan(protocol, cache))
    with Store(tmp_path / "s.sqlite") as store, Store(tmp_path / "s.sqlite") as other:
        store.begin(protocol, units)
        rows, _ = train_unit(cache, units[0])
        assert store.claim(units[0])
        assert not other.claim(units[0]), "a living process has it"
        assert store.commit(units[0], rows)
        assert not other.commit(units[0], rows)
        assert not other.claim(units[0]), "it is finished"
        assert len(list(store.rows())) == 3


def test_claims_of_dead_processes_are_void(preset, tmp_path):
    protocol, cache = small(preset, datasets=("csbm",)), DatasetCache()
    units = list(make_plan(protocol, cache))
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(protocol, units)
        assert store.claim(units[0])
        connection = sqlite3.connect(tmp_path / "s.sqlite")
        connection.execute("UPDATE claims SET started = started - 5")  # the pid lives, as another process
        connection.commit()
        connection.close()
        assert store.claim(units[0])


def test_a_foreign_file_is_no_store(tmp_path):
    path = tmp_path / "s.sqlite"
    path.write_text("this is no database, but it is long enough to look like one" * 30)
    with pytest.raises(chebnet2d.InputError, match="path must be the file of a study"):
        Store(path)
