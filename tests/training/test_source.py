"""A source of batches of one's own: fit takes it, and nothing else has to know."""

import torch

from chebnet2d.training import fit
from chebnet2d.training.tasks import SOURCES, Source, register_source
from chebnet2d.training.tasks.full_graph import FullGraphSource
from small_runs import model
from uniform_split import split


class Twin:
    """A graph and its name; no source of the package knows what to do with it."""

    def __init__(self, data):
        self.data = data


def test_a_source_of_ones_own(data, monkeypatch):
    monkeypatch.setattr(SOURCES, "_known", dict(SOURCES))

    @register_source
    class TwinSource(Source):
        priority = 2

        def __init__(self, data, batches, runs, device):
            self.inner = FullGraphSource(data.data, batches, runs, device)

        @staticmethod
        def accepts(data, batches):
            return isinstance(data, Twin)

        def width(self, run, asked):
            return 1

        def task(self, runs):
            return self.inner.task(runs)

    ours = fit(model(data), Twin(data), split(data), 3, epochs=5)
    theirs = fit(model(data), data, split(data), 3, epochs=5)
    assert ours.history == theirs.history
    for a, b in zip(ours.model.parameters(), theirs.model.parameters(), strict=True):
        assert torch.equal(a, b)
