"""Every decoupled method by the bases that its own convolution asks for, and which way a graph is trained on."""

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.models import MODELS, Decoupled, OnGraph
from chebnet2d.recipes import Recipe, choose_way, make_bases, memory_for_rows, steps_in_place_of_epochs
from chebnet2d.recipes.ways import whole_graph_cost
from shipped_methods import OURS

DECOUPLED = [name for name in OURS if issubclass(MODELS[name], Decoupled)]
ELSEWHERE = ["dsgc"]  # on an operator that is not symmetric


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=60, classes=3, features=6, homophily=0.85, signal=1.5, seed=0)


@pytest.mark.parametrize("reading", ["filter-first", "each-basis"])
@pytest.mark.parametrize("method", [name for name in DECOUPLED if name not in ELSEWHERE])
def test_bases_and_graph_agree(method, reading, data, tmp_path):
    """Logits from the rows on disk, and from the convolution on the graph, after a random start."""
    recipe = Recipe(method, model={"hidden_channels": 8, "reading": reading})
    bases = make_bases(recipe, data.clone(), tmp_path / "bases")
    model = recipe.build(bases)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.rand_like(parameter))
    found, wanted = model.predict(bases), OnGraph(model).predict(data)
    torch.testing.assert_close(found.probabilities, wanted.probabilities, atol=2e-4, rtol=1e-3)
    assert found.probabilities.std(0).max() > 1e-3, "nodes differ"


def test_what_has_no_bases_is_refused(data):
    for method in (*ELSEWHERE, "gcn", "linkx"):
        with pytest.raises(InputError, match=f"the method '{method}' must be a polynomial of L_hat, P or P~"):
            Recipe(method).bases_spec(6)


def test_all_rows_where_most_have_labels(data, tmp_path):
    recipe, some = Recipe("chebnetii"), data.clone()
    assert len(make_bases(recipe, data.clone(), tmp_path / "all")) == 60
    some.y[torch.arange(60) % 3 > 0] = -1
    kept = make_bases(recipe, some, tmp_path / "some")
    assert kept.nodes.tolist() == list(range(0, 60, 3))
    assert kept.num_classes == 3


class TestTheWay:
    @staticmethod
    def way(nodes, *, features=16, method="chebnet2d", degree=20, x=None, **asked):
        """For sizes alone: nothing is as large as they say."""
        recipe = Recipe(method)
        sizes = chebnet2d.data.load("csbm", nodes=40, classes=5, features=features, degree=4, seed=0)
        model = recipe.build(sizes)
        sizes.num_nodes = nodes
        sizes.x = torch.ones(1, features).expand(nodes, features) if x is None else x
        sizes.edge_index = torch.zeros(2, 1, dtype=torch.int64).expand(2, nodes * degree // 2)
        return choose_way(recipe, model, sizes, **asked)

    def test_it_follows_the_size(self):
        assert not self.way(3_000).bases
        assert self.way(3_000).reason is None
        large = self.way(1_000_000)
        assert large.bases
        assert "bases on disk are taken instead" in large.reason
        assert 2 * 2**30 < large.cost.bytes < 4 * 2**30
        assert 5 < large.cost.seconds < 50

    def test_what_is_asked_for(self):
        assert not self.way(1_000_000, asked="never").bases
        assert self.way(3_000, asked="folder").bases
        assert not self.way(1_000_000, method="gcn").bases
        assert not self.way(1_000_000, method="dsgc").bases

    def test_many_sparse_features_are_better_on_the_graph(self):
        """The terms of 5,000 features have so many numbers that reading them takes longer than the graph does."""
        assert self.way(200_000).bases
        rows = torch.arange(200_001)
        ones = torch.sparse_csr_tensor(rows, rows[:-1] % 5_000, torch.ones(200_000), (200_000, 5_000), check_invariants=False)
        assert not self.way(200_000, features=5_000, x=ones).bases

    def test_memory_decides_too(self):
        small = self.way(20_000)
        assert not small.bases
        assert self.way(20_000, limit=1).bases
        with pytest.raises(InputError, match="memory must be at least .* for the whole graph at once"):
            self.way(20_000, method="gcn", limit=1)

    def test_the_cost_grows_with_each_size(self, data):
        model = Recipe("chebnet2d").build(data)
        base = whole_graph_cost(model, data)
        twice = data.clone()
        twice.edge_index = torch.cat([data.edge_index, data.edge_index], dim=1)
        wide = Recipe("chebnet2d", model={"hidden_channels": 256}).build(data)
        for other in (whole_graph_cost(model, twice), whole_graph_cost(wide, data)):
            assert other.bytes > base.bytes
            assert other.seconds > base.seconds

    @pytest.mark.parametrize(("method", "model"), [("chebnet2d-plus", {"hidden_channels": 256}), ("linkx", {}), ("glognn", {})])
    def test_weights_of_adjacency_rows_cost_by_edge_and_not_by_pair_of_nodes(self, method, model):
        few, many = (
            chebnet2d.data.load("csbm", nodes=n, classes=3, features=6, homophily=0.8, signal=1.0, seed=0) for n in (500, 4000)
        )
        one, other = (whole_graph_cost(Recipe(method, model=model).build(data), data) for data in (few, many))
        assert other.seconds < 0.5
        assert other.seconds < 4 * 8 * one.seconds, "8 times the nodes and edges; reading beyond the cache is slower"


def test_epochs_are_steps():
    assert steps_in_place_of_epochs({}, 540_000, 10_000) == {"epochs": 38, "patience": 5}
    assert steps_in_place_of_epochs({}, 5_000, 10_000) == {"epochs": 2000, "patience": 200}
    assert steps_in_place_of_epochs({"epochs": 3, "lr": 0.1}, 10**8, 100) == {"epochs": 3, "patience": 5, "lr": 0.1}


def test_rows_get_what_is_left(data, tmp_path):
    bases = make_bases(Recipe("chebnetii"), data.clone(), tmp_path / "bases")
    assert memory_for_rows(bases, 100, None) is None
    assert memory_for_rows(bases, 100, 1) == 1
    assert memory_for_rows(bases, 100, 2**42) > 2**41
