"""Ctrl-C and SIGTERM, sent to commands in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.models import read_facts

LONG = ["train", "csbm", "--epochs", "1000000", "--patience", "1000000", "--degree", "2"]
# Says when the training is some epochs old, and takes its time to end where the test sends a second signal.
MAIN = """
import sys, time, chebnet2d.cli.progress as progress
from contextlib import contextmanager

@contextmanager
def told(*_, **__):
    def report(now):
        if now.epoch == 20:
            print("at work", file=sys.stderr, flush=True)
    try:
        yield report
    finally:
        print("ending", file=sys.stderr, flush=True)
        time.sleep({slow})

progress.progress_bar = told
from chebnet2d.cli import main
main()
"""


def start(*arguments, slow=0.0):
    code = MAIN.format(slow=slow)
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr.readline() == "at work\n"
    return process


@pytest.mark.parametrize(("how", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_train_keeps_the_best_epoch(tmp_path, how, code, word):
    process = start(*LONG, "--save", tmp_path / "m", "--json")
    process.send_signal(how)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == code
    assert errors == f"ending\nchebnet2d: {word}.\n"
    record = json.loads(out)
    assert record["interrupted"]
    assert record["test"] == {}
    facts = read_facts(tmp_path / "m")
    assert 1 <= facts["best_epoch"] <= facts["epochs"] >= 20
    assert isinstance(chebnet2d.load(tmp_path / "m"), chebnet2d.ChebNet2D)


def test_a_second_one_ends_it_at_once_and_without_a_traceback(tmp_path):
    process = start(*LONG, "--save", tmp_path / "m", slow=600)
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "ending\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == ""
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_workers_end_with_a_study_that_is_terminated(tmp_path):
    """While they train, and at once: each unit would take hours."""
    protocol = ["--methods", "gcn,mlp", "--datasets", "csbm", "--splits", "1", "--inits", "1", "--epochs", "10000000"]
    command = [sys.executable, "-m", "chebnet2d", "study", "run", *protocol, "--patience", "10000000", "--workers", "2"]
    driver = subprocess.Popen(
        [*command, "--store", str(tmp_path / "s.sqlite")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = []
    for _ in range(1200):
        workers = [child for child in children(driver.pid) if "spawn_main" in command_of(child)]
        if len(workers) == 2 and all(cpu_seconds(worker) > 1 for worker in workers):
            break
        time.sleep(0.1)
    assert len(workers) == 2
    driver.send_signal(signal.SIGTERM)
    _, errors = driver.communicate(timeout=60)
    assert driver.returncode == 143
    assert errors == "chebnet2d: terminated. Finished runs are in the store, and the same command goes on from them.\n"
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def children(pid):
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def cpu_seconds(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
