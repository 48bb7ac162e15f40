"""The anchor of table 4 computes what our ChebNetII computes, in both readings, values and gradients."""

import sys

import pytest
import torch

import chebnet2d
from chebnet2d.bases import large_operator, precompute
from chebnet2d.data import generate
from chebnet2d.recipes import Recipe
from chebnet2d.reports.timings import format_timings
from page_pieces import ROOT

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def loop():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks" / "large"))
        import chebnetii_loop

        yield chebnetii_loop
        del sys.modules["chebnetii_loop"]


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=80, classes=3, features=6, seed=0)


def with_our_weights(loop, ours, sizes, degree, first):
    theirs = loop.PublishedChebNetII(sizes, degree, first=first).eval()
    with torch.no_grad():
        ours.conv.paradigm.theta.copy_(torch.linspace(-0.5, 2.0, degree + 1))  # some of them below 0
        theirs.theta.copy_(ours.conv.paradigm.theta.flip(0))  # their nodes ascend, ours descend
        for linear, layer in zip(theirs.linears, ours.mlp.layers, strict=True):
            linear.weight.copy_(layer.weight.T)  # ours is inputs x outputs
            linear.bias.copy_(layer.bias)
    return theirs


def same(ours, theirs, answers, expected):
    torch.testing.assert_close(answers, expected, atol=1e-5, rtol=1e-5)
    for answer in (answers, expected):
        answer.square().sum().backward()
    torch.testing.assert_close(theirs.theta.grad.flip(0), ours.conv.paradigm.theta.grad, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(theirs.linears[0].weight.grad.T, ours.mlp.layers[0].weight.grad, atol=1e-4, rtol=1e-4)


def test_full_batch(loop, data):
    ours = Recipe("chebnetii", model={"hidden_channels": 7, "degree": 5}).build(data).eval()
    theirs = with_our_weights(loop, ours, [6, 7, 3], 5, first=False)
    laplacian = large_operator(data.edge_index, data.num_nodes).csr
    same(ours, theirs, theirs(data.x, laplacian), ours(data.x, data.edge_index))


def test_on_terms_of_the_features(loop, data, tmp_path):
    bases = precompute(data, out=tmp_path / "bases", degree=5)
    ours = Recipe("chebnetii", model={"hidden_channels": 7, "num_layers": 3, "maps": "features"}).build(bases).eval()
    theirs = with_our_weights(loop, ours, [6, 7, 7, 3], 5, first=True)
    terms = loop.terms_of(large_operator(data.edge_index, data.num_nodes).csr, data.x, 5)
    same(ours, theirs, theirs(terms), ours(bases.read(bases.positions(torch.arange(data.num_nodes)))))


@pytest.mark.parametrize(("name", "reading"), [("ogbn-arxiv", "filter-first"), ("genius", "full-batch")])
def test_a_line_of_the_table(loop, name, reading, tmp_path):
    generate(name, tmp_path, scale=0.005)
    line = loop.measure(None, name, tmp_path, 2)
    assert (line.method, line.reading, line.epochs, line.generated) == (loop.NAME, reading, 2, True)
    assert line.epoch_seconds > 0
    assert (line.precompute_seconds is None) == (reading == "full-batch")
    assert f"| {name} (generated) | {loop.NAME} | {reading} |" in format_timings([line])
