"""Models on bases against the same methods on the whole graph."""

import inspect

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.models import MODELS, Decoupled, FilterFirst, find_model, on_bases, read_facts
from chebnet2d.testing import MemoryBases
from shipped_methods import OURS

FEATURES, CLASSES = 10, 3
DECOUPLED = [name for name in OURS if issubclass(MODELS[name], Decoupled)]
OPTIONS = {
    "chebnet2d": [{}, {"rank": 2}, {"scaling": "coefficients"}],
    "chebnetii": [{}, {"relu": False}, {"operator": "P~"}],
    "dsgc": [{"rows": "lp"}, {"rows": "none"}],
    "gnn-lf": [{}, {"form": "closed", "alpha": 0.5}],
    "jacobiconv": [{"a": 0.5, "b": -0.5}, {"basis": "bernstein"}],
    "optbasis": [{}, {"coefficients": "shared"}],
}
every_method = pytest.mark.parametrize(
    ("method", "options"),
    [pytest.param(m, o, id="-".join([m, *map(str, o.values())])) for m in DECOUPLED for o in OPTIONS.get(m, [{}])],
)


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=60, classes=CLASSES, features=FEATURES, homophily=0.85, signal=1.5, seed=0)


def bases_for(method, data, **options):
    """In memory, in float64, one degree above what the method needs where it can tell."""
    conv = find_model(method).convolution(FEATURES, FEATURES, **options)
    conv.degree += 1 if conv.basis.fixed else 0
    return MemoryBases.of(conv, data)


def make(method, bases, options, **more):
    """The model of the degree that the method has by itself."""
    degree = find_model(method).convolution(FEATURES, FEATURES, **options).degree
    return on_bases(method, bases, degree=degree, **options, **more)


def randomised(model, seed=3):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=generator) - 0.3)
    return model.double().eval()


class TestEveryDecoupledMethod:
    def test_they_are_many(self):
        assert len(DECOUPLED) >= 17
        assert {"mlp", "dsgc", "adc", "gadc", "specgn", "chebnet", "favardgnn", "appnp", "gnn-hf"} <= set(DECOUPLED)

    @every_method
    def test_each_basis_with_a_linear_map_is_the_model_on_the_graph(self, data, method, options):
        """Without a ReLU and a bias h commutes with the graph: values and gradients are those of the printed model."""
        bases = bases_for(method, data, **options)
        model = randomised(make(method, bases, options, reading="each-basis", num_layers=1))
        with torch.no_grad():
            model.mlp.layers[0].bias.zero_()
        cls = find_model(method)
        unified = "variant" in inspect.signature(cls).parameters and method != "chebnetii"  # which would undo the options
        graph = cls(FEATURES, CLASSES, **options, **({"variant": "unified"} if unified else {})).double().eval()
        graph.mlp = model.mlp
        if method != "mlp":
            graph.conv.load_state_dict(model.conv.state_dict())
        if method == "optbasis":  # its basis belongs to the columns of X: the map must keep them as they are
            bases, model = self._of_logits(data, model, graph)
        x = data.x.double() if method != "optbasis" else data.x.double()[:, :CLASSES]
        expected = graph(x, data.edge_index)
        found = model(bases.read(torch.arange(len(bases))))
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
        weights = torch.randn(expected.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
        for (name, one), (_, other) in zip(_gradients(model, found, weights), _gradients(graph, expected, weights), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8, msg=name)

    def _of_logits(self, data, model, graph):
        small = data.clone()
        small.x = data.x[:, :CLASSES]
        bases = MemoryBases.of(model.conv, small)
        coefficients = model.config.get("coefficients", "channel")
        made = on_bases("optbasis", bases, reading="each-basis", num_layers=1, coefficients=coefficients).double().eval()
        made.conv.load_state_dict(model.conv.state_dict())
        with torch.no_grad():
            made.mlp.layers[0].weight.copy_(torch.eye(CLASSES))
            made.mlp.layers[0].bias.zero_()
        graph.mlp, graph.in_channels = made.mlp, CLASSES
        for parameter in made.mlp.parameters():
            parameter.requires_grad_(False)
        return bases, made

    @every_method
    @pytest.mark.parametrize("maps", ["hidden", "features"])
    def test_filter_first_is_the_method_on_raw_features(self, data, method, options, maps):
        bases = bases_for(method, data, **options)
        model = randomised(make(method, bases, options, hidden_channels=6, num_layers=3, maps=maps))
        filtered = model.conv(data.x.double(), data.edge_index)
        replaced = maps == "hidden" and find_model(method).maps_channels
        assert model.replaces == replaced
        expected = model.mlp.rest(filtered + model.bias) if replaced else model.mlp(filtered)
        torch.testing.assert_close(model(bases.terms), expected, rtol=1e-9, atol=1e-9)
        prediction = model.predict(bases, batch_size=23)
        torch.testing.assert_close(prediction.probabilities, expected.softmax(dim=1).detach(), rtol=1e-9, atol=1e-9)
        assert torch.equal(prediction.labels, expected.argmax(dim=1))

    @every_method
    @pytest.mark.parametrize("reading", ["filter-first", "each-basis"])
    def test_saved_and_loaded(self, data, method, options, reading, tmp_path):
        bases = bases_for(method, data, **options)
        model = randomised(make(method, bases, options, reading=reading, hidden_channels=6))
        folder = chebnet2d.save(model, tmp_path / "model", facts={"note": 1})
        loaded = chebnet2d.load(folder)
        assert type(loaded) is type(model)
        assert loaded.config == model.config
        assert read_facts(folder) == {"note": 1}
        assert torch.equal(loaded.predict(bases).probabilities, model.predict(bases).probabilities)

    @every_method
    def test_groups_are_those_of_the_method(self, data, method, options):
        model = make(method, bases_for(method, data, **options), options)
        groups = {model.group_of(name) for name, _ in model.named_parameters()}
        assert groups <= {"weights", *find_model(method).groups}
        if next(model.conv.parameters(), None) is not None:
            assert len(groups) > 1

    @pytest.mark.parametrize("method", [name for name in DECOUPLED if MODELS[name].maps_channels])
    def test_it_starts_as_the_mlp_on_raw_features(self, data, method):
        bases = bases_for(method, data)
        model = make(method, bases, {}, hidden_channels=6).double().eval()
        chebnet2d.training.initialise_parameters(model, 4)
        paradigm = model.conv.paradigm
        weight = paradigm.weight if method == "specgn" else paradigm.theta[0]
        torch.testing.assert_close(model(bases.terms), model.mlp.rest(data.x.double() @ weight + model.bias))

    @pytest.mark.parametrize("method", ["gprgnn", "appnp", "gcn"])
    def test_maps_between_channels_are_refused_where_there_are_none(self, method):
        cls = find_model(method)
        if not issubclass(cls, Decoupled):
            with pytest.raises(InputError, match="method must be one of .*got 'gcn', which is no polynomial of the graph"):
                FilterFirst(method, 4, 2)
        elif method == "gprgnn":
            with pytest.raises(InputError, match="out_channels must equal in_channels = 4"):
                cls.convolution(4, 5)


def _gradients(model, out, weights):
    parts = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    parts = sorted((part for part in parts if not part[0].endswith("bias")), key=lambda part: part[0])
    grads = torch.autograd.grad((out * weights).sum(), [value for _, value in parts], allow_unused=True) if parts else []
    return [(name, grad) for (name, _), grad in zip(parts, grads, strict=True)]
