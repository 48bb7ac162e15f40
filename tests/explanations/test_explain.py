"""Explanations find a planted cause, name it by the user's ids, and say what they are."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import chebnet2d
from chebnet2d import InputError
from chebnet2d.explanations import bands
from chebnet2d.explanations.hops import distances
from chebnet2d.models import GCN, GPRGNN, MODELS, Ensemble
from chebnet2d.models.on_bases import READINGS


def _blocks(seed=0, size=100):
    """Two blocks; the label of a node is a mark that more of the nodes two hops away carry, and its own mark says nothing."""
    graph = nx.stochastic_block_model([size, size], [[0.03, 0.005], [0.005, 0.03]], seed=seed)
    a = nx.to_numpy_array(graph)
    two = ((a @ a > 0) & (a == 0) & ~np.eye(len(a), dtype=bool)).astype(float)
    mark = np.random.default_rng(seed).choice([-1.0, 1.0], len(a))
    votes = (two / np.maximum(two.sum(1, keepdims=True), 1)) @ mark
    x = torch.tensor(np.stack([mark > 0, mark < 0], axis=1), dtype=torch.float32)
    x = torch.cat([x, torch.randn(len(a), 4, generator=torch.Generator().manual_seed(seed))], 1)
    edges = torch.tensor(np.array(np.nonzero(a)))
    data = Data(x=x, edge_index=edges, y=torch.tensor((votes > 0).astype(np.int64)))
    data.node_ids, data.feature_names = [f"n{i}" for i in range(len(a))], ["yes", "no", "u", "v", "w", "z"]
    return data, two, mark


def test_a_rule_over_two_hops_is_found():
    data, two, mark = _blocks(size=200)
    model = chebnet2d.ChebNet2D(6, 2, hidden_channels=16, degree=2, dropout=0.0)
    split = chebnet2d.data.split(data, "uniform", seed=0)
    result = chebnet2d.fit(model, data, split, seed=0, epochs=200, lr=0.03, weight_decay=5e-3)
    assert result.test["accuracy"] > 0.8
    right = (model.predict(data).labels == data.y).nonzero().squeeze(1).tolist()
    nodes = [i for i in right if two[i].sum() > 10][:20]
    found = chebnet2d.explain(model, data, [f"n{i}" for i in nodes], class_name="1")
    agreement, farther, causes = [], [], []
    for e in found:
        reached = np.flatnonzero(two[e.index])
        agreement.append(np.mean(np.sign(e.shares[reached].numpy() - e.shares[reached].mean().item()) == mark[reached]))
        sizes = [e.shares[torch.tensor(e.distances == d)].abs().sum() for d in (1, 2)]
        farther.append(sizes[1] > sizes[0])
        causes.append({name for name, _ in e.top_features(2)} == {"yes", "no"})
    assert np.mean(agreement) > 0.9, "nodes two hops away speak for the side of their mark"
    assert np.mean(farther) > 0.8, "two hops away is more than one hop away"
    assert np.mean(causes) > 0.8, "the two marks are the features that matter"


def test_shares_of_features_add_up_for_a_linear_mlp():
    data, *_ = _blocks()
    model = MODELS["jacobiconv"](6, 2, degree=3)
    for name, value in model.named_parameters():
        torch.nn.init.normal_(value, generator=torch.Generator().manual_seed(len(name)))
    (found,) = chebnet2d.explain(model, data, ["n4"])
    # Linear, then a filter: without the biases, the logit is linear in X.
    with torch.no_grad():
        logit = [model.double().eval()(s * data.x.double(), data.edge_index)[4, found.class_index].item() for s in (1, 0)]
    assert found.features.sum().item() == pytest.approx(logit[0] - logit[1], rel=1e-6)


def test_bands_of_both_kinds_agree_where_the_filter_is_smooth(monkeypatch):
    data, *_ = _blocks()
    model = GPRGNN(6, 2)
    (sharp,) = chebnet2d.explain(model, data, ["n4"])
    monkeypatch.setattr(bands, "LARGEST_EXACT", 0)
    (soft,) = chebnet2d.explain(model, data, ["n4"])
    assert (sharp.bands_exact, soft.bands_exact) == (True, False)
    # Sums up to the middle of the spectrum: an edge is crossed by little.
    totals = [np.cumsum([band.share for band in e.bands]) for e in (sharp, soft)]
    size = np.abs([band.share for band in sharp.bands]).sum()
    assert np.abs(totals[0] - totals[1]).max() < 0.2 * size
    at = bands.band_passes(torch.linspace(-1, 1, 33, dtype=torch.float64))
    assert torch.allclose(at.sum(1), torch.ones(33, dtype=torch.float64), atol=1e-12)
    middles = torch.linspace(-0.9, 0.9, bands.BANDS, dtype=torch.float64)
    assert (bands.band_passes(middles).diagonal() > 0.8).all()


def test_hops_are_those_of_networkx():
    data, *_ = _blocks()
    (found,) = chebnet2d.explain(GCN(6, 2), data, ["n0"])
    graph = nx.Graph(data.edge_index.T.tolist())
    graph.add_nodes_from(range(200))
    known = nx.single_source_shortest_path_length(graph, 0)
    assert found.distances.tolist() == [known.get(i, -1) for i in range(200)]
    assert distances(found.adjacency, 0, 1).max() == 1


def test_what_is_no_sum_says_so_and_estimators_refuse():
    data, *_ = _blocks()
    (found,) = chebnet2d.explain(GCN(6, 2), data, ["n0"], features="permutation", top=2)
    assert found.kind == "gradient"
    assert "estimate" in found.to_json()["meaning"]
    assert found.shares.sum().item() + found.constant == pytest.approx(found.logit)
    assert len(found.permuted) == 2
    with pytest.raises(InputError, match="trained by gradients, got Majority"):
        chebnet2d.explain(MODELS["majority"](6, 2), data, ["n0"])


def test_an_ensemble_is_explained_by_a_run_that_is_a_sum_and_says_which():
    data, *_ = _blocks()
    torch.manual_seed(0)
    run = GPRGNN(6, 2)
    ensemble = Ensemble([[MODELS["majority"](6, 2)], [GCN(6, 2)], [run, GPRGNN(6, 2)]])
    (found,), (known,) = (chebnet2d.explain(model, data, ["n0"]) for model in (ensemble, run))
    assert (found.logit, found.kind) == (known.logit, "exact")
    assert torch.equal(found.shares, known.shares)
    assert found.to_json()["by"] == "By GPRGNN, the first run of member 3: one of 4 models that are averaged."
    with pytest.raises(InputError, match="a member that is trained by gradients, got Majority. Regressions, trees"):
        chebnet2d.explain(Ensemble([[MODELS["majority"](6, 2)]]), data, ["n0"])


@pytest.mark.parametrize("reading", READINGS)
def test_a_model_on_bases_is_explained_on_its_graph(reading):
    data, *_ = _blocks()
    torch.manual_seed(0)
    model = READINGS[reading]("chebnet2d", 6, 2, hidden_channels=4, degree=2)
    (found,) = chebnet2d.explain(model, data, ["n0"])
    with torch.no_grad():
        logits = model.double().eval().on_graph(data.x.double(), data.edge_index)
    assert found.kind == "gradient"
    assert found.logit == pytest.approx(logits[0, found.class_index].item(), rel=1e-9)


@pytest.mark.parametrize(
    ("nodes", "options", "match"),
    [
        (["x"], {}, "the id of a node of the graph, got 'x'. The graph has 200 nodes: n0, n1, n2"),
        ([], {}, "a list of ids"),
        ("n0", {}, "a list of ids"),
        (["n0"], {"class_name": "2"}, "one of '0', '1'"),
        (["n0"], {"features": "all"}, "one of 'gradient'"),
    ],
)
def test_wrong_input(nodes, options, match):
    with pytest.raises(InputError, match=match):
        chebnet2d.explain(GPRGNN(6, 2), _blocks()[0], nodes, **options)
