"""Models on bases against the methods' own convolutions on the whole graph."""

import pytest
import torch
from bases_of_methods import bases_for

from chebnet2d.bases import precompute
from chebnet2d.training.basis_models import METHODS, on_bases

MAPPED = ("chebnet2d", "specgn")


def randomised(model, seed=3):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=generator) - 0.3)
    return model.eval()


class TestModels:
    @pytest.mark.parametrize("maps", ["hidden", "features"])
    @pytest.mark.parametrize("method", list(METHODS))
    def test_filter_first_is_the_method_on_raw_features(self, data, stored, method, maps):
        bases = bases_for(stored, method)
        model = randomised(on_bases(method, bases, hidden_channels=6, num_layers=3, maps=maps))
        found = predict_on_bases(model, bases, batch_size=130)
        filtered = model.conv(data.x, data.edge_index)
        replaced = maps == "hidden" and method in MAPPED
        expected = model.mlp.rest(filtered + model.bias) if replaced else model.mlp(filtered)
        torch.testing.assert_close(found, expected.detach(), atol=2e-4, rtol=1e-3)

    @pytest.mark.parametrize("method", list(METHODS))
    def test_each_basis_is_the_printed_model_for_a_linear_map(self, data, stored, method):
        """Without a ReLU h commutes with the graph, up to its bias: then (b) and (c) are one model."""
        bases = bases_for(stored, method)
        model = randomised(on_bases(method, bases, reading="each-basis", num_layers=1))
        with torch.no_grad():
            model.mlp.layers[0].bias.zero_()
        if method == "optbasis":
            pytest.skip("its basis belongs to the columns of X, not to those of X W")
        expected = model.conv(model.mlp(data.x), data.edge_index).detach()
        torch.testing.assert_close(predict_on_bases(model, bases), expected, atol=1e-4, rtol=1e-3)

    def test_each_basis_by_its_formula(self, stored):
        bases = stored["L_hat"]
        model = randomised(on_bases("chebnet2d", bases, reading="each-basis", hidden_channels=5)).double()
        terms = bases.read(torch.arange(20)).double()
        first, second = model.mlp.layers
        maps = torch.einsum("db,bcj->dcj", model.conv._exact_transform, model.conv.paradigm.theta)
        expected = 0
        for d in range(5):
            hidden = (terms[:, d] @ first.weight + first.bias).clamp(min=0) @ second.weight + second.bias
            expected = expected + hidden @ maps[d]
        torch.testing.assert_close(model(terms), expected)

    @pytest.mark.parametrize("method", MAPPED)
    def test_it_starts_as_the_mlp_on_raw_features(self, data, stored, method):
        bases = bases_for(stored, method)
        model = on_bases(method, bases, hidden_channels=6).eval()
        paradigm = model.conv.paradigm
        weight = paradigm.weight if method == "specgn" else paradigm.theta[0]
        expected = model.mlp.rest(data.x @ weight + model.bias)
        torch.testing.assert_close(predict_on_bases(model, bases), expected.detach(), atol=1e-5, rtol=1e-4)

    def test_a_rank_model_starts_there_too(self, data, stored):
        model = on_bases("chebnet2d", stored["L_hat"], hidden_channels=6, rank=2).eval()
        expected = model.mlp.rest(data.x @ model.conv.paradigm.weight[0] + model.bias)
        torch.testing.assert_close(predict_on_bases(model, stored["L_hat"]), expected.detach(), atol=1e-5, rtol=1e-4)

    def test_bases_of_the_mirrored_operator_serve_too(self, data, stored, tmp_path):
        model = randomised(on_bases("jacobiconv", stored["L_hat"], a=0.5, b=-0.5, sign="correct"))
        mirrored = precompute(data, out=tmp_path / "p", degree=4, operator="P")
        other = on_bases("jacobiconv", mirrored, a=0.5, b=-0.5, sign="correct")
        other.load_state_dict(model.state_dict())
        found = predict_on_bases(other, mirrored)
        torch.testing.assert_close(found, predict_on_bases(model, stored["L_hat"]), atol=1e-5, rtol=1e-4)

    def test_the_method_may_have_its_own_basis_on_disk(self, data, stored, tmp_path):
        model = randomised(on_bases("gprgnn", stored["P~"]))
        own = precompute(data, out=tmp_path / "m", degree=4, operator="P~", basis="monomial")
        other = on_bases("gprgnn", own)
        other.load_state_dict(model.state_dict())
        torch.testing.assert_close(predict_on_bases(other, own), predict_on_bases(model, stored["P~"]), atol=1e-5, rtol=1e-4)

    def test_groups_and_configuration(self, stored):
        model = on_bases("jacobiconv", stored["L_hat"], alpha=0.5)
        groups = {name: model.group_of(name) for name, _ in model.named_parameters()}
        assert groups["conv.paradigm.theta"] == "filter"
        assert groups["conv.paradigm.eta"] == "scale"
        assert groups["mlp.layers.0.weight"] == "weights"
        assert type(model)(**model.config).config == model.config
        assert model.config["alpha"] == 0.5

    def test_parameters_as_the_shapes_say(self, stored):
        def count(method, **options):
            model = on_bases(method, bases_for(stored, method), **{"hidden_channels": 6, **options})
            return sum(p.numel() for p in model.conv.parameters())

        assert count("chebnet2d") == 5 * 10 * 6
        assert count("chebnet2d", maps="features") == 5 * 10 * 10
        assert count("chebnet2d", hidden_channels=10) == 5 * 10 * 10, "up to F = H the maps are F x F"
        assert count("chebnet2d", hidden_channels=9) == 5 * 10 * 9, "else F x H"
        assert count("chebnet2d", reading="each-basis") == 5 * 3 * 3
        assert count("chebnetii") == 5
        assert count("optbasis") == 50
        assert count("specgn") == 5 + 60
