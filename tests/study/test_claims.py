"""Claims: leases that are renewed while a unit is trained, and end with their owner."""

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from chebnet2d.cli import main
from chebnet2d.study import DatasetCache, Store, claims, make_plan, run_study, waiting
from chebnet2d.study.claims import Owner
from small_study import small
from stored_tables import table_of

ELSEWHERE = Owner("another-host", "its boot", 4711, 1.0)


@pytest.fixture
def protocol(preset):
    return small(preset, datasets=("csbm",), splits=4, inits=2, epochs=3)  # two units


@pytest.fixture
def begun(protocol, tmp_path):
    """A store with a plan, and its units."""
    path, units = tmp_path / "s.sqlite", list(make_plan(protocol, DatasetCache()))
    with Store(path) as store:
        store.begin(protocol, units)
    return path, units


def put_claim(path, unit, owner, seconds):
    row = (unit.id, owner.host, owner.boot, owner.pid, owner.started, time.time(), time.time() + seconds)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def can_claim(path, unit):
    with Store(path) as store:
        return store.claim(unit)


def dead_process():
    """The owner that a process was which has been killed."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    mine = Owner.this_process()
    owner = Owner(mine.host, mine.boot, child.pid, claims._started(child.pid))
    assert not owner.is_dead
    child.kill()
    child.communicate()
    return owner


def test_a_dead_owner_on_this_boot_is_noticed_at_once(begun):
    path, (unit, _) = begun
    put_claim(path, unit, dead_process(), 1000)
    assert can_claim(path, unit)


def test_a_process_that_waits_to_be_buried_is_dead():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner(socket.gethostname(), Owner.this_process().boot, child.pid, claims._started(child.pid))
    child.kill()
    deadline = time.monotonic() + 10
    while not owner.is_dead and time.monotonic() < deadline:
        time.sleep(0.01)
    assert owner.is_dead
    child.communicate()


@pytest.mark.parametrize("owner", [ELSEWHERE, Owner(socket.gethostname(), "an earlier boot", 1, 1.0)])
def test_an_owner_elsewhere_keeps_its_unit_until_the_lease_ends(begun, owner):
    path, (unit, _) = begun
    put_claim(path, unit, owner, 1000)
    assert not can_claim(path, unit)
    put_claim(path, unit, owner, -1)
    assert can_claim(path, unit)


def test_a_lease_is_renewed_as_long_as_a_unit_is_trained(protocol, tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "LEASE", 0.6)
    monkeypatch.setattr(claims, "RENEWAL", 0.1)
    path, tries = tmp_path / "s.sqlite", []

    def slow(now):
        if now.epoch is not None and not tries:
            for _ in range(3):
                time.sleep(0.5)
                tries.append(can_claim(path, now.unit))

    run_study(protocol, path, progress=slow)
    assert tries == [False] * 3


def test_a_study_takes_over_what_another_host_leaves(begun, protocol, tmp_path, monkeypatch):
    """The lease ends while the study is in work, or after it has done all else."""
    monkeypatch.setattr(waiting, "POLL", 0.05)
    path, (unit, _) = begun
    put_claim(path, unit, ELSEWHERE, 3)
    notices = []
    assert run_study(protocol, path, notice=notices.append) == []
    assert len(notices) <= 1
    assert all(re.fullmatch("waiting up to . s for 1 unit of process 4711 on another-host: .*", text) for text in notices)
    run_study(protocol, tmp_path / "calm.sqlite")
    assert table_of(path) == table_of(tmp_path / "calm.sqlite")


@contextlib.contextmanager
def living_elsewhere(path, unit):
    """A process of another host that renews its lease."""
    end = threading.Event()
    put_claim(path, unit, ELSEWHERE, 50)

    def renew():
        while not end.wait(0.1):
            put_claim(path, unit, ELSEWHERE, 50)

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_what_others_hold_is_left_to_them_and_returned(begun, protocol, monkeypatch):
    monkeypatch.setattr(waiting, "POLL", 0.05)
    path, (unit, other) = begun
    with living_elsewhere(path, unit):
        (left,) = run_study(protocol, path)
    assert (left.unit_id, left.owner) == (unit.id, ELSEWHERE)
    with Store(path) as store:
        assert store.finished() == {other.id}


def test_the_command_says_who_holds_the_rest_and_has_an_exit_code_for_it(begun, protocol, preset, monkeypatch, command, capsys):
    monkeypatch.setattr(waiting, "POLL", 0.05)
    path, (unit, _) = begun
    file = path.with_name("p.toml")
    file.write_text(
        'methods = ["chebnet2d"]\ndatasets = ["csbm"]\nsplits = 4\ninits = 2\nepochs = 3\nwidth = 1\n'
        f'[presets]\nchebnet2d = "{preset}"\n'
    )
    with living_elsewhere(path, unit):
        monkeypatch.setattr("sys.argv", ["chebnet2d", "study", "run", str(file), "--store", str(path)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 3
        done = capsys.readouterr()
        assert "others still hold 1 unit of process 4711 on another-host. The same command" in done.err
        assert "4 of 8 runs done" in done.out
        status = command("study", "status", "--store", str(path)).out
        assert all(word in status for word in (unit.id, "another-host", "4711", time.strftime("%Y-%m-%dT", time.gmtime())))
    released = command("study", "status", "--store", str(path), "--release").out
    assert "released: 1 unit of process 4711 on another-host" in released
    assert "8 of 8 runs done" in command("study", "run", str(file), "--store", str(path)).out


KILLED = """
import os, signal, socket, sys
socket.gethostname = lambda: "host-a"
from chebnet2d.study import Protocol, claims, run_study
import json
claims.LEASE = 3.0
run_study(Protocol.from_json(json.loads(sys.argv[1])), sys.argv[2], progress=lambda now: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_study_killed_on_one_host_is_finished_on_another(protocol, tmp_path, monkeypatch):
    monkeypatch.setattr(waiting, "POLL", 0.05)
    path = tmp_path / "s.sqlite"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, json.dumps(protocol.to_json()), str(path)], check=False, env=os.environ
    )
    assert killed.returncode == -signal.SIGKILL
    with Store(path, create=False) as store:
        assert {claim.owner.host for claim in store.claims().values()} <= {"host-a"}
    assert run_study(protocol, path) == []
    with Store(path) as store:
        assert len(store.rows()) == 8


def test_a_store_that_vanishes_is_not_made_anew_by_a_renewal(protocol, tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "RENEWAL", 0.02)
    path = tmp_path / "s.sqlite"
    with claims.renewed(path, Owner.this_process()):
        time.sleep(0.2)
    assert not path.exists()
