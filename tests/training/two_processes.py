"""One of two processes that train together; a module of its own, which a new process can import."""

import os
from contextlib import suppress

import torch

import chebnet2d
from chebnet2d.bases import Bases
from chebnet2d.models import FilterFirst, on_bases
from chebnet2d.training import Batches, Checkpoint, fit, process_group, under_torchrun

SETTINGS = {"epochs": 5, "lr": 0.02, "filter_lr": 0.05}
CASES = {
    "plain": {"dropout": 0.0, "shards": 2},
    "dropout": {"dropout": 0.5, "shards": 2},
    "more shards than processes": {"dropout": 0.5, "shards": 3},
    "adamw": {"dropout": 0.5, "shards": 2, "optimizer": "adamw"},
    "penalty": {"dropout": 0.5, "shards": 3, "penalty": True},
}


class Penalised(FilterFirst):
    def forward(self, terms):
        return super().forward(terms), sum(p.square().sum() for p in self.conv.parameters())


def model_for(bases, dropout, penalty=False):
    model = on_bases("chebnet2d", bases, hidden_channels=6, dropout=dropout).double()
    if penalty:
        model.__class__ = Penalised
    return model


class DoubleBases(Bases):
    """Terms in float64: two orders of summation then differ by nothing that matters."""

    def read(self, positions):
        return super().read(positions).double()


def worker(rank, port, folder, queue):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    assert under_torchrun()
    bases = DoubleBases.open(folder)
    split = split_of()
    with process_group():
        for name, case in CASES.items():
            case = dict(case)
            model = model_for(bases, case.pop("dropout"), case.pop("penalty", False))
            seen = []
            batches = Batches(50, shards=case.pop("shards"))
            result = fit(model, bases, split, seed=4, batches=batches, progress=seen.append, **SETTINGS, **case)
            answer = {
                "val_loss": result.history.val_loss,
                "train_loss": result.history.train_loss,
                "test": dict(result.test),
                "parameters": [p.detach().tolist() for p in model.parameters()],
                "reports": len(seen),
            }
            queue.put((rank, name, answer))
        for end in (EndsAt(folder + "-two", 3), EndsAt(folder + "-one", 3), None):
            with suppress(Ended):
                result = resumable(bases, Checkpoint(folder + "-two", seconds=0) if end is None else end)
        queue.put((rank, "resumed", result.history.val_loss))


class Ended(Exception):
    pass


class EndsAt(Checkpoint):
    """In all processes, after that epoch."""

    def __init__(self, path, epoch):
        super().__init__(path, seconds=0)
        self.epoch = epoch

    def after_epoch(self, training):
        super().after_epoch(training)
        if training.epoch == self.epoch:
            raise Ended


def resumable(bases, checkpoint):
    """The case "more shards than processes"."""
    model = model_for(bases, 0.5)
    return fit(model, bases, split_of(), seed=4, batches=Batches(50, shards=3), checkpoint=checkpoint, **SETTINGS)


def made():
    return chebnet2d.data.load("csbm", nodes=243, classes=2, features=6, homophily=0.8, signal=1.0, seed=0)


def split_of():
    return chebnet2d.data.split(made(), "uniform", seed=0)
