"""``torchrun`` itself: ranks that stop or lose their launcher. Slow, so that `make test-cluster` runs them, not `make test`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.bases import precompute

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bases") / "b"
    precompute(chebnet2d.data.load("csbm", nodes=243, classes=2, features=6, seed=0), out=folder, degree=3)
    return folder


def torchrun(folder, *arguments):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "0"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0", "-m", "chebnet2d", "train-bases", str(folder)]
    options = {"env": {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}, "text": True}
    flags = ["--split", "uniform", "--batch-size", "50", *arguments]
    return subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.fixture
def endless(folder, request):
    """A training without an end, and the processes of its ranks. The parameter: seconds that they wait for each other."""
    launcher = torchrun(folder, "--epochs", "10000000", "--patience", "10000000", "--timeout", str(request.param))
    for line in launcher.stdout:
        if "parameters; split" in line:
            break
    else:
        pytest.fail(launcher.communicate()[1])
    time.sleep(2)
    ranks = [int(word) for word in Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()]
    assert len(ranks) == 2
    yield launcher, ranks
    for process in (launcher.pid, *ranks):
        if alive(process):
            os.kill(process, signal.SIGKILL)
    launcher.communicate()


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ended(processes, seconds):
    """Whether they end in that time."""
    until = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(alive, processes))


@pytest.mark.parametrize("endless", [10], indirect=True)
def test_a_stopped_rank_ends_the_others(endless):
    launcher, ranks = endless
    os.kill(ranks[1], signal.SIGSTOP)
    _, errors = launcher.communicate(timeout=180)  # the launcher gives the stopped one half a minute
    assert launcher.returncode != 0
    assert "the processes of torchrun must answer every other one within 10 s, got one that did not." in errors
    assert not any(map(alive, ranks))


@pytest.fixture
def busy():
    """Twice as many processes as cores that only compute: what two threads of a rank do at the same time takes turns."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


@pytest.mark.parametrize("endless", [600], indirect=True)
def test_a_dead_rank_ends_the_others(busy, endless):
    """By the broken connection, long before the timeout: the launcher, which would end it too, is stopped meanwhile.

    On a busy machine: there, about every second rank that freed its process group waited for ever.
    """
    launcher, ranks = endless
    launcher.send_signal(signal.SIGSTOP)
    os.kill(ranks[1], signal.SIGKILL)
    alone = ended(ranks, 60)
    launcher.send_signal(signal.SIGCONT)
    _, errors = launcher.communicate(timeout=60)
    assert alone, "the other rank is alive"
    assert launcher.returncode != 0
    assert "the processes of torchrun must work all until the end, got one whose connection broke." in errors


@pytest.mark.parametrize("endless", [600], indirect=True)
def test_ranks_end_with_their_launcher(endless):
    launcher, ranks = endless
    launcher.kill()
    assert ended(ranks, 10), "a rank is alive"


KEEPS_THE_INTERPRETER = """
import ctypes
from chebnet2d.training.processes import end_with_parent
end_with_parent()
print("ready", flush=True)
ctypes.PyDLL(None).sleep(60)  # no other thread of Python runs
"""


def test_a_rank_that_keeps_the_interpreter_ends_with_its_launcher():
    """As one does that waits for a broken connection while Python shuts down: threads of Python cannot end it."""
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {KEEPS_THE_INTERPRETER!r}])"
    with subprocess.Popen([sys.executable, "-c", started], stdout=subprocess.PIPE, text=True) as launcher:
        try:
            assert launcher.stdout.readline() == "ready\n"
            (rank,) = map(int, Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split())
        finally:
            launcher.kill()
        alone = ended([rank], 10)
        if not alone:
            os.kill(rank, signal.SIGKILL)
        assert alone, "the rank is alive"


def test_two_processes_do_what_two_shards_do(folder):
    """From the command line, dropout included."""
    flags = ["--epochs", "4", "--json"]
    process = torchrun(folder, *flags)
    there, errors = process.communicate(timeout=180)
    assert process.returncode == 0, errors
    command = [sys.executable, "-m", "chebnet2d", "train-bases", str(folder), "--split", "uniform", "--batch-size", "50"]
    here = subprocess.run([*command, *flags, "--shards", "2"], capture_output=True, text=True, check=True).stdout
    ours, theirs = json.loads(there), json.loads(here)
    assert ours["val_loss"] == pytest.approx(theirs["val_loss"], abs=1e-5)
    assert ours["best_epoch"] == theirs["best_epoch"]
