"""Two processes against one with the same global batch: the same numbers, dropout included."""

import socket
import sys

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from chebnet2d.training.distributed import fit_distributed, under_torchrun
from chebnet2d.training.minibatch import fit_on_bases
from two_processes import CASES, SETTINGS, DoubleBases, made, model_for, split_of, worker

from chebnet2d import InputError
from chebnet2d.bases import Bases, precompute
from chebnet2d.training.basis_models import on_bases


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
        for _ in range(2 * len(CASES)):
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
    model = model_for(bases, case.pop("dropout"))
    alone = fit_on_bases(model, bases, split_of(), seed=4, **SETTINGS, **case)
    for rank in range(2):
        answer = answers[rank, name]
        assert answer["val_loss"] == pytest.approx(alone.history.val_loss, abs=1e-8)
        assert answer["train_loss"] == pytest.approx(alone.history.train_loss, abs=1e-8)
        assert answer["test_accuracy"] == alone.test_accuracy
        assert answer["test_roc_auc"] == pytest.approx(alone.test_roc_auc)
        for ours, theirs in zip(model.parameters(), answer["parameters"], strict=True):
            torch.testing.assert_close(ours.detach(), torch.tensor(theirs, dtype=torch.float64), atol=1e-7, rtol=0)
        assert answer["reports"] == (5 if rank == 0 else 0)


def test_dropout_was_at_work(answers):
    assert answers[0, "plain"]["val_loss"] != answers[0, "dropout"]["val_loss"]
    assert answers[0, "dropout"]["val_loss"] != answers[0, "more shards than processes"]["val_loss"]


def test_without_a_group_it_says_so(folder):
    bases = Bases.open(folder)
    with pytest.raises(InputError, match="a process group must be there, got none. Start the program with torchrun"):
        fit_distributed(on_bases("chebnet2d", bases), bases, split_of())
    assert not under_torchrun()
