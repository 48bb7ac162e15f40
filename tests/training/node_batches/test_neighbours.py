"""Batches of training nodes with some of their neighbours."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

from batch_examples import NODES, gcn, task_of
from chebnet2d import InputError
from chebnet2d.models.tuned_gnn import TunedSAGE
from chebnet2d.training import Batches, fit
from chebnet2d.training.tasks import neighbours
from chebnet2d.training.tasks.neighbours import Neighbours, compiled_sampler, how_neighbours_are_drawn
from cli_runner import run


def sage(data, layers=2):
    torch.manual_seed(0)
    return TunedSAGE(data.num_features, 3, hidden_channels=8, num_layers=layers).eval()


def matrix_of(data):
    row, col = data.edge_index.numpy()
    return scipy.sparse.csr_array((np.ones(row.size), (row, col)), shape=(NODES, NODES))


def test_a_few_of_each_node(data):
    """Of one node at one hop: neighbours of it, as many as asked for, and every one of them at some time."""
    matrix, node = matrix_of(data), np.array([17])
    true = set(matrix[[17]].indices.tolist())
    sampler, met = Neighbours(matrix, 3, 1), set()
    for number in range(200):
        found = set(sampler.around(node, [0, number]).tolist()) - {17}
        assert len(found) == min(3, len(true))
        met |= found
    assert met == true
    assert set(Neighbours(matrix, NODES, 1).around(node, [0]).tolist()) == true | {17}
    two = set().union(*(matrix[[other]].indices.tolist() for other in true)) | true | {17}
    assert set(Neighbours(matrix, NODES, 2).around(node, [0]).tolist()) == two
    assert len(Neighbours(matrix, 2, 2).around(node, [0])) <= 1 + 2 + 4


def test_all_neighbours_give_the_answers_of_the_whole_graph(data, split):
    """A mean over neighbours needs no others: the training nodes of a batch have the logits that they have in the graph."""
    model = sage(data)
    task = task_of(model, data, split, 20, sampling="neighbours")
    task.source.neighbours.most = NODES
    whole, met = model(data.x, data.edge_index), 0
    for rows, (batch,) in task.training_batches(1):
        counted = batch.y >= 0
        assert rows == int(counted.sum())
        x = batch.inputs[0]
        nodes = torch.cdist(x[counted], data.x).argmin(dim=1)
        torch.testing.assert_close(model(*batch.inputs)[counted], whole[nodes], atol=1e-5, rtol=1e-5)
        assert torch.equal(batch.y[counted], data.y[nodes])
        met += rows
    assert met == split.train.numel(), "each training node counts once an epoch"


def test_seed_and_epoch_decide(data, split):
    def sizes(seed, epoch):
        task = task_of(gcn(data), data, split, 16, seed=seed, sampling="neighbours")
        return [batch.inputs[0].sum().item() for _, (batch,) in task.training_batches(epoch)]

    assert sizes(0, 1) == sizes(0, 1)
    assert sizes(0, 1) != sizes(0, 2)
    assert sizes(0, 1) != sizes(1, 1)


@pytest.mark.parametrize("evaluation", ["whole", "parts"])
def test_it_learns(data, split, evaluation):
    asked = Batches(30, sampling="neighbours", neighbours=4, evaluation=evaluation)
    assert fit(gcn(data), data, split, batches=asked, epochs=30, lr=0.02).test["accuracy"] > 0.8


class OneHop:
    """What is used of a NeighborLoader: a call with nodes gives a ``Data`` with ``n_id``."""

    made: ClassVar[dict] = {}

    def __init__(self, graph, **options):
        self.graph, self.calls = graph, []
        OneHop.made.update(options, loader=self)

    def __call__(self, nodes):
        self.calls.append(nodes)
        row, col = self.graph.edge_index
        near = col[torch.isin(row, nodes)]
        return Data(n_id=torch.cat([nodes, near[torch.rand(near.numel()) < 0.5].unique()]))


def test_the_loader_of_torch_geometric_is_taken_where_it_works(data, split, monkeypatch):
    """A stand-in for it, which needs no compiled package."""
    monkeypatch.setattr(neighbours, "compiled_sampler", lambda: "pyg-lib")
    monkeypatch.setattr("torch_geometric.loader.NeighborLoader", OneHop)
    assert how_neighbours_are_drawn() == "neighbours come on top, drawn by torch_geometric's NeighborLoader (pyg-lib)"
    task = task_of(sage(data, layers=3), data, split, 20, sampling="neighbours")
    state = torch.get_rng_state()
    first, again = ([b.inputs[0].sum().item() for _, (b,) in task.training_batches(1)] for _ in range(2))
    assert first == again
    assert torch.equal(state, torch.get_rng_state()), "torch's random numbers are as they were"
    assert OneHop.made["num_neighbors"] == [10, 10, 10]
    assert sum(len(nodes) for nodes in OneHop.made["loader"].calls) == 2 * split.train.numel()


@pytest.mark.skipif(compiled_sampler() is None, reason="neither pyg-lib nor torch-sparse is installed")
def test_the_real_loader(data):
    matrix = matrix_of(data)
    found = Neighbours(matrix, NODES, 1).around(np.array([17]), [0])
    assert set(found.tolist()) == set(matrix[[17]].indices.tolist()) | {17}
    few = Neighbours(matrix, 2, 1)
    assert few.around(np.array([17]), [3]).tolist() == few.around(np.array([17]), [3]).tolist()


def test_wrong_numbers():
    with pytest.raises(InputError, match="neighbours must be an integer >= 1, got 0"):
        Batches(9, sampling="neighbours", neighbours=0)


def test_the_command_says_how(monkeypatch):
    monkeypatch.setattr(neighbours, "compiled_sampler", lambda: None)
    flags = ("--batch-size", 200, "--sampling", "neighbours", "--neighbours", 3, "--epochs", 2)
    said = run("train", "digits", "--method", "gcn", *flags).stdout
    assert "batches of up to 200 nodes, sampling: neighbours" in said
    assert "neighbours come on top, drawn by numpy, since neither pyg-lib nor torch-sparse is installed" in said
    said = run("train", "digits", "--method", "chebnet2d", *flags, code=2).stderr
    assert "--sampling must be 'induced' or 'induced-train' for ChebNet2D, got 'neighbours'" in said
