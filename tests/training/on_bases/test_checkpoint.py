"""A training on bases that was ended in the middle goes on from its last checkpoint, exactly as if nothing had happened."""

import pytest
import torch

from chebnet2d import InputError
from chebnet2d.models import on_bases
from chebnet2d.training import Batches, Checkpoint, fit, stored_split
from small_runs import model

SETTINGS = {"epochs": 9, "patience": 9, "lr": 0.02}


class Ended(Exception):
    """As sudden as a kill: nothing is saved on the way out."""


def ends_at(epoch):
    def progress(now):
        if now.epoch == epoch:
            raise Ended

    return progress


def trained(bases, checkpoint=None, **changes):
    made = on_bases("chebnet2d", bases, hidden_channels=8, dropout=0.4)
    options = {"batches": Batches(40, shards=2), "checkpoint": checkpoint, **SETTINGS, **changes}
    return fit(made, bases, stored_split(bases, "uniform"), 3, **options)


@pytest.fixture(scope="module")
def bases(stored):
    return stored["L_hat"]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "training.safetensors"


def checkpoint(file, said=None):
    return Checkpoint(file, seconds=0, notice=said)


def test_it_goes_on_as_if_nothing_had_happened(bases, file):
    """Dropout, the moments of Adam and the best epoch included; ended twice."""
    said = []
    for end in (3, 6):
        with pytest.raises(Ended):
            trained(bases, checkpoint(file, said.append), progress=ends_at(end))
    epochs = []
    ours = trained(bases, checkpoint(file, said.append), progress=lambda now: epochs.append(now.epoch))
    theirs = trained(bases)
    assert said == [f"going on after epoch {epoch}, from {file}" for epoch in (3, 6)]
    assert epochs == [7, 8, 9]
    assert ours.history == theirs.history
    assert (ours.best_epoch, ours.epochs, ours.test) == (theirs.best_epoch, theirs.epochs, theirs.test)
    for mine, other in zip(ours.model.parameters(), theirs.model.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=0, rtol=0)


@pytest.mark.parametrize("change", [{"lr": 0.03}, {"epochs": 8}, {"batches": Batches(40)}])
def test_another_training_begins_anew(bases, file, change):
    with pytest.raises(Ended):
        trained(bases, checkpoint(file), progress=ends_at(3))
    said = []
    ours = trained(bases, checkpoint(file, said.append), **change)
    assert said == [f"{file} is not of this training, which begins anew"]
    assert ours.history == trained(bases, **change).history


DAMAGE = {"cut": lambda content: content[:-100], "another epoch": lambda c: c.replace(b'epoch\\": 3', b'epoch\\": 4')}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_not_used(bases, file, damage):
    with pytest.raises(Ended):
        trained(bases, checkpoint(file), progress=ends_at(3))
    before = file.read_bytes()
    file.write_bytes(DAMAGE[damage](before))
    assert file.read_bytes() != before
    said = []
    assert trained(bases, checkpoint(file, said.append)).epochs == 9
    assert said == [f"{file} is not of this training, which begins anew"]


def test_files_are_written_apart(bases, file):
    trained(bases, Checkpoint(file, seconds=1000))
    assert not file.exists()


def test_graphs_have_none(data, split, file):
    with pytest.raises(InputError, match="checkpoint must be left out, but for one run on bases, got a graph"):
        fit(model(data), data, split, checkpoint=checkpoint(file), epochs=1)
