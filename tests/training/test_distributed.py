"""Two processes against one with the same global batch: the same numbers, dropout included."""

import socket
import sys

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

from chebnet2d import InputError
from chebnet2d.bases import Bases, precompute
from chebnet2d.models import on_bases
from chebnet2d.training import Batches, Checkpoint, Run, fit, fit_many, process_group, under_torchrun
from two_processes import CASES, SETTINGS, DoubleBases, made, model_for, resumable, split_of, worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bases") / "b"
    precompute(made(), out=folder, degree=3, block=4)
    return folder


@pytest.fixture(scope="module")
def answers(folder):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=worker, args=(rank, port, str(folder), queue)) for rank in range(2)]
    for process in processes:
        process.start()
    found = {}
    try:
        for _ in range(2 * len(CASES) + 2):
            rank, name, answer = queue.get(timeout=120)
            found[rank, name] = answer
    finally:
        for process in processes:
            process.join(timeout=30)
            if process.is_alive():
                process.kill()
    assert [process.exitcode for process in processes] == [0, 0]
    return found


@pytest.mark.skipif(not dist.is_available() or sys.platform == "win32", reason="no gloo here")
@pytest.mark.parametrize("name", list(CASES))
def test_two_processes_do_what_one_does(folder, answers, name):
    case = dict(CASES[name])
    bases = DoubleBases.open(folder)
    model = model_for(bases, case.pop("dropout"), case.pop("penalty", False))
    batches = Batches(50, shards=case.pop("shards"))
    alone = fit(model, bases, split_of(), seed=4, batches=batches, **SETTINGS, **case)
    for rank in range(2):
        answer = answers[rank, name]
        assert answer["val_loss"] == pytest.approx(alone.history.val_loss, abs=1e-8)
        assert answer["train_loss"] == pytest.approx(alone.history.train_loss, abs=1e-8)
        assert answer["test"] == pytest.approx(alone.test)
        for ours, theirs in zip(model.parameters(), answer["parameters"], strict=True):
            torch.testing.assert_close(ours.detach(), torch.tensor(theirs, dtype=torch.float64), atol=1e-7, rtol=0)
        assert answer["reports"] == (5 if rank == 0 else 0)


def test_a_training_that_was_ended_goes_on(folder, answers):
    """In as many processes, or in another number: the same numbers as without an end."""
    whole = answers[0, "more shards than processes"]["val_loss"]
    for rank in range(2):
        assert answers[rank, "resumed"] == whole
    alone = resumable(DoubleBases.open(folder), Checkpoint(f"{folder}-one", seconds=0))
    assert alone.epochs == SETTINGS["epochs"]
    assert alone.history.val_loss[:3] == whole[:3], "from the file"
    assert alone.history.val_loss == pytest.approx(whole, abs=1e-8)


def test_dropout_was_at_work(answers):
    assert answers[0, "plain"]["val_loss"] != answers[0, "dropout"]["val_loss"]
    assert answers[0, "dropout"]["val_loss"] != answers[0, "more shards than processes"]["val_loss"]
    assert answers[0, "penalty"]["val_loss"] != answers[0, "more shards than processes"]["val_loss"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("gloo/transport/tcp/pair.cc: Connection closed by peer [127.0.0.1]", "work all until the end, got one whose connection"),
        ("writev [127.0.0.1]:17000: Broken pipe", "work all until the end, got one whose connection broke"),
        ("Timed out waiting 5000ms for recv operation", "answer every other one within 300 s, got one that did not"),
    ],
)
def test_a_process_that_is_gone_is_told(words, sentence, monkeypatch):
    """In the words that gloo has for it."""
    monkeypatch.setattr("torch.distributed.init_process_group", lambda *_, **__: None)
    with pytest.raises(InputError, match=f"the processes of torchrun must {sentence}"), process_group():
        raise RuntimeError(words)
    with pytest.raises(RuntimeError, match="another thing"), process_group():
        raise RuntimeError("another thing")


def test_several_runs_are_refused_under_torchrun(folder, monkeypatch):
    bases = Bases.open(folder)
    monkeypatch.setattr("chebnet2d.training.tasks.bases.process_rank", lambda: (0, 2))
    runs = [Run(on_bases("chebnet2d", bases), split_of(), seed) for seed in (0, 1)]
    with pytest.raises(InputError, match="runs must be one run under torchrun"):
        fit_many(runs, bases)
    assert not under_torchrun()
