"""Reading a store alters nothing, in the file and beside it, and databases of other programs are left alone."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

import chebnet2d
from chebnet2d.study import Store, read_rows, run_study
from finished_study import protocol_of

COMMANDS = (("status",), ("status", "--json"), ("table",), ("export", "--out", "../rows.json"))


def state(folder):
    """Names, contents and times; a file that was made and deleted changes the time of the folder."""
    files = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    return files, folder.stat().st_mtime_ns


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_commands_that_read_leave_no_trace(mode, store_copy, folder, command):
    with contextlib.closing(sqlite3.connect(store_copy)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    store_copy.rename(folder / "s.sqlite")
    before = state(folder)
    monkey = pytest.MonkeyPatch()
    monkey.chdir(folder)
    for arguments in COMMANDS:
        done = command("study", *arguments, "--store", "s.sqlite")
        assert done.out
        assert not done.err
        assert state(folder) == before
    monkey.undo()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_enough(store_copy, folder):  # pragma: no cover
    store_copy.rename(folder / "s.sqlite")
    folder.chmod(0o500)
    try:
        assert len(read_rows(folder / "s.sqlite")) == 8
    finally:
        folder.chmod(0o700)


KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE runs SET config = config || 'half written'")  # more than the cache holds: pages reach the file
connection.execute("UPDATE runs SET val_loss = 0")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_store_whose_writer_was_killed_is_read_as_it_was_before(store_copy, folder):
    rows = read_rows(store_copy)
    shutil.copy(store_copy, folder / "s.sqlite")
    subprocess.run([sys.executable, "-c", KILLED, str(folder / "s.sqlite")], check=False)
    assert sorted(path.name for path in folder.iterdir()) == ["s.sqlite", "s.sqlite-journal"]
    assert (folder / "s.sqlite").read_bytes() != store_copy.read_bytes()
    before = state(folder)
    assert read_rows(folder / "s.sqlite") == rows
    assert state(folder) == before
    with Store(folder / "s.sqlite") as store:
        assert store.rows() == rows, "and whoever writes next repairs it"


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_the_database_of_another_program_is_refused_and_stays_as_it_is(mode, finished, folder, command):
    """As an Optuna storage, which has tables of its own; one of them may even have one of our names."""
    connection = sqlite3.connect(folder / "optuna.db")
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name TEXT)")
    connection.execute("CREATE TABLE runs (x)")
    connection.execute("INSERT INTO studies VALUES (1, 'mine')")
    connection.commit()
    connection.close()
    before = state(folder)
    for arguments in (*COMMANDS, ("status", "--release"), ("run", "--methods", "mlp", "--datasets", "csbm", "--epochs", "2")):
        done = command("study", *arguments, "--store", "store/optuna.db")
        assert "--store must be the file of a study, got 'store/optuna.db', which is the database of another program" in done.err
        assert not done.out
        assert state(folder) == before
    with pytest.raises(chebnet2d.InputError, match="the database of another program"):
        run_study(protocol_of(finished), folder / "optuna.db")
    with pytest.raises(chebnet2d.InputError, match="the database of another program"):
        run_study(protocol_of(finished), folder / "new.sqlite", reuse=[folder / "optuna.db"])
    assert state(folder) == before


def test_a_real_optuna_storage(folder):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder}/o.db")
    optuna.create_study(storage=storage)
    storage.engine.dispose()
    before = state(folder)
    for create in (False, True):
        with pytest.raises(chebnet2d.InputError, match="the database of another program"):
            Store(folder / "o.db", create=create)
        assert state(folder) == before


def test_the_state_of_an_open_database_is_read_too(store_copy):
    """While a driver of this process has the store open; locks are per process, so it is read by way of SQLite alone."""
    with Store(store_copy) as store, store._transaction():
        store._connection.execute("UPDATE meta SET value = value")
        assert len(read_rows(store_copy)) == 8
