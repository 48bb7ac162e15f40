"""Models on bases of a folder: which bases serve, what is refused, and options of the method."""

import re

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import large_operator, precompute
from chebnet2d.models import EachBasis, on_bases
from chebnet2d.polynomials import Monomial
from chebnet2d.training import Run, fit_many
from randomised_model import randomised

WRONG = [
    ("gprgnn", "L_hat", "the bases must be of the operator P~ for this method, got L_hat"),
    ("dsgc", "P~", "the bases must be of the operator D~^-1 A~ for this method, got P~"),
    ("optbasis", "L_hat", "the bases must be orthonormal of P for this method, got chebyshev"),
    ("chebnet2d", "orthonormal", "the bases must be chebyshev of L_hat for this method, got orthonormal"),
    ("mlp", "orthonormal", "the bases must be chebyshev of P~ for this method, got orthonormal"),
    ("chebnet3d", "L_hat", "method must be one of"),
]


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=60, classes=3, features=10, homophily=0.85, signal=1.5, seed=0)


@pytest.fixture(scope="module")
def stored(data, tmp_path_factory):
    root = tmp_path_factory.mktemp("bases")
    made = {kind: precompute(data, out=root / kind, degree=4, operator=kind, block=4) for kind in ("L_hat", "P~", "P")}
    made["orthonormal"] = precompute(data, out=root / "o", degree=4, operator="P", basis="orthonormal")
    return made


def test_each_basis_by_its_formula(stored):
    bases = stored["L_hat"]
    model = randomised(on_bases("chebnet2d", bases, reading="each-basis", hidden_channels=5))
    terms = bases.read(torch.arange(20)).double()
    first, second = model.mlp.layers
    maps = torch.einsum("db,bcj->dcj", model.conv.to_chebyshev(), model.conv.paradigm.theta)
    expected = 0
    for d in range(5):
        hidden = (terms[:, d] @ first.weight + first.bias).clamp(min=0) @ second.weight + second.bias
        expected = expected + hidden @ maps[d]
    torch.testing.assert_close(model(terms), expected)


def test_a_rank_model_starts_as_the_mlp_too(data, stored):
    model = on_bases("chebnet2d", stored["L_hat"], hidden_channels=6, rank=2).eval()
    expected = model.mlp.rest(data.x @ model.conv.paradigm.weight[0] + model.bias).softmax(dim=1)
    torch.testing.assert_close(model.predict(stored["L_hat"]).probabilities, expected.detach(), atol=1e-5, rtol=1e-4)


def test_bases_of_the_mirrored_operator_serve_too(stored):
    model = randomised(on_bases("jacobiconv", stored["L_hat"], a=0.5, b=-0.5, sign="correct"))
    other = randomised(on_bases("jacobiconv", stored["P"], a=0.5, b=-0.5, sign="correct"))
    expected = model.predict(stored["L_hat"]).probabilities
    torch.testing.assert_close(other.predict(stored["P"]).probabilities, expected, atol=1e-5, rtol=1e-4)


def test_the_method_may_have_its_own_basis_on_disk(data, stored, tmp_path):
    model = randomised(on_bases("gprgnn", stored["P~"]))
    own = precompute(data, out=tmp_path / "m", degree=4, operator="P~", basis=Monomial())
    other = randomised(on_bases("gprgnn", own))
    expected = model.predict(stored["P~"]).probabilities
    torch.testing.assert_close(other.predict(own).probabilities, expected, atol=1e-5, rtol=1e-4)


def test_a_lower_degree_leaves_terms_out(data, stored):
    model = randomised(on_bases("chebnetii", stored["L_hat"], degree=2, hidden_channels=6))
    assert model.conv.degree == 2
    expected = model.mlp(model.conv(data.x.double(), data.edge_index)).softmax(dim=1)
    torch.testing.assert_close(model.predict(stored["L_hat"]).probabilities, expected.detach(), atol=1e-5, rtol=1e-4)
    assert on_bases("appnp", stored["P~"], steps=3).conv.degree == 3
    assert on_bases("adc", stored["P~"]).conv.paradigm.terms == 5


def test_groups_and_configuration(stored):
    model = on_bases("jacobiconv:unified", stored["L_hat"], alpha=0.5)
    groups = {name: model.group_of(name) for name, _ in model.named_parameters()}
    assert groups["conv.paradigm.theta"] == "filter"
    assert groups["conv.paradigm.eta"] == "scale"
    assert groups["mlp.layers.0.weight"] == "weights"
    assert type(model)(**model.config).config == model.config
    assert (model.config["method"], model.config["alpha"]) == ("jacobiconv", 0.5)


def test_parameters_as_the_shapes_say(stored):
    def count(method, which="L_hat", **options):
        model = on_bases(method, stored[which], **{"hidden_channels": 6, **options})
        return sum(p.numel() for p in model.conv.parameters())

    assert count("chebnet2d") == 5 * 10 * 6
    assert count("chebnet2d", maps="features") == 5 * 10 * 10
    assert count("chebnet2d", hidden_channels=10) == 5 * 10 * 10, "up to F = H the maps are F x F"
    assert count("chebnet2d", hidden_channels=9) == 5 * 10 * 9, "else F x H"
    assert count("chebnet2d", reading="each-basis") == 5 * 3 * 3
    assert count("chebnetii") == 5
    assert count("optbasis", "orthonormal") == 50
    assert count("specgn", "P~") == 5 + 60
    assert count("mlp", "P~") == count("appnp", "P~") == 0


def test_constants_of_the_method_may_vary_in_a_stack(data, stored):
    split = chebnet2d.data.split(data, "uniform", seed=0)

    def runs(alphas):
        return [Run(on_bases("appnp", stored["P~"], alpha=alpha, hidden_channels=4), split, 1) for alpha in alphas]

    assert len({run.model.stack_key for run in runs((0.1, 0.5))}) == 1
    together = fit_many(runs((0.1, 0.5)), stored["P~"], batches=20)
    for one, alpha in zip(together, (0.1, 0.5), strict=True):
        alone = fit_many(runs((alpha,)), stored["P~"], batches=20)[0]
        assert one.history.val_loss == pytest.approx(alone.history.val_loss, rel=1e-4)
    assert together[0].val_loss != together[1].val_loss


@pytest.mark.parametrize(("method", "which", "sentence"), WRONG)
def test_bases_that_do_not_serve(stored, method, which, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        on_bases(method, stored[which])


def test_wrong_options(data, stored, tmp_path):
    bases = stored["L_hat"]
    legendre = precompute(data, out=tmp_path / "l", degree=2, basis="legendre")
    with pytest.raises(InputError, match=r"must be chebyshev of L_hat, or Chebyshev ones, .* got legendre"):
        on_bases("chebnet2d", legendre)
    with pytest.raises(InputError, match="the bases must be of degree 7 or more for this method, got 4"):
        on_bases("chebnet2d", bases, degree=7)
    with pytest.raises(InputError, match="of degree 19 or more for this method, got 4"):
        on_bases("dsgc", stored["P~"], rows="lp")
    with pytest.raises(InputError, match="options must be those of the convolution of 'gprgnn', got: .*colour"):
        on_bases("gprgnn", stored["P~"], colour=1)
    with pytest.raises(InputError, match="got 'full-batch', which is chebnet2d.fit on the graph"):
        on_bases("chebnet2d", bases, reading="full-batch")
    with pytest.raises(InputError, match="reading must be one of"):
        on_bases("chebnet2d", bases, reading="first")
    with pytest.raises(InputError, match="maps must be one of 'auto', 'hidden', 'features'"):
        on_bases("chebnet2d", bases, maps="both")
    with pytest.raises(InputError, match=r"terms must be a B x 5 x 10 tensor, got Tensor of shape \(3, 4, 10\)"):
        on_bases("chebnet2d", bases)(torch.zeros(3, 4, 10))
    with pytest.raises(InputError, match="bases must be Bases of a folder"):
        on_bases("chebnet2d", None)


def test_prediction_wants_the_bases_of_the_model(stored):
    with pytest.raises(InputError, match="the bases must have the operator L_hat, as the model, got P~"):
        on_bases("chebnet2d", stored["L_hat"]).predict(stored["P~"])
    with pytest.raises(InputError, match="the bases must have the degree 3, as the model, got 4"):
        EachBasis("chebnet2d", 10, 3, degree=3).predict(stored["L_hat"])


def test_bases_without_labels(data, tmp_path):
    operator = large_operator(data.edge_index, 60)
    bases = precompute(operator, data.x, out=tmp_path / "b", degree=2)
    with pytest.raises(InputError, match="out_channels must be given for bases without labels"):
        on_bases("chebnet2d", bases)
    assert on_bases("chebnet2d", bases, 3).predict(bases).labels.shape == (60,)
