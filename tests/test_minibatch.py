"""Training on bases. Oracles: the methods' own convolutions on the whole graph, torch.optim.Adam by hand, scikit-learn."""

import copy

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import large_operator, precompute
from chebnet2d.training import Run, Settings
from chebnet2d.training.basis_models import METHODS, EachBasis, FilterFirst, on_bases
from chebnet2d.training.minibatch import fit_many_on_bases, fit_on_bases, predict_on_bases

OPERATOR = {"gprgnn": "P~", "specgn": "P~"}
MAPPED = ("chebnet2d", "specgn")


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=400, classes=3, features=10, homophily=0.85, signal=1.5, seed=0)


@pytest.fixture(scope="module")
def split(data):
    return chebnet2d.data.split(data, "uniform", seed=0)


@pytest.fixture(scope="module")
def stored(data, tmp_path_factory):
    """Bases for every method: by Chebyshev where the method's own are fixed."""
    root = tmp_path_factory.mktemp("bases")
    made = {kind: precompute(data, out=root / kind, degree=4, operator=kind, block=4) for kind in ("L_hat", "P~")}
    made["orthonormal"] = precompute(data, out=root / "o", degree=4, operator="P", basis="orthonormal")
    return made


def bases_for(stored, method):
    return stored["orthonormal"] if method == "optbasis" else stored[OPERATOR.get(method, "L_hat")]


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


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("method", "which", "sentence"),
        [
            ("gprgnn", "L_hat", "the bases must be of the operator P~ for this method, got L_hat"),
            ("optbasis", "L_hat", "the bases must be orthonormal of P for this method, got chebyshev"),
            ("chebnet2d", "orthonormal", "the bases must be chebyshev of L_hat for this method, got orthonormal"),
            ("chebnet3d", "L_hat", "method must be one of 'chebnet2d'.* Did you mean 'chebnet2d'"),
        ],
    )
    def test_bases_that_do_not_serve(self, stored, method, which, sentence):
        with pytest.raises(InputError, match=sentence):
            on_bases(method, stored[which])

    def test_another_basis_than_the_methods_or_chebyshev(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "l", degree=2, basis="legendre")
        with pytest.raises(InputError, match=r"must be chebyshev of L_hat, or Chebyshev ones, .* got legendre"):
            on_bases("chebnet2d", bases)

    def test_readings(self, stored):
        with pytest.raises(InputError, match="got 'full-batch', which is chebnet2d.fit on the graph"):
            on_bases("chebnet2d", stored["L_hat"], reading="full-batch")
        with pytest.raises(InputError, match="reading must be one of"):
            on_bases("chebnet2d", stored["L_hat"], reading="first")
        with pytest.raises(InputError, match="maps must be one of 'auto', 'hidden', 'features'"):
            on_bases("chebnet2d", stored["L_hat"], maps="both")
        with pytest.raises(InputError, match=r"terms must be a B x 5 x 10 tensor, got Tensor of shape \(3, 4, 10\)"):
            on_bases("chebnet2d", stored["L_hat"])(torch.zeros(3, 4, 10))
        with pytest.raises(InputError, match="bases must be Bases of a folder"):
            on_bases("chebnet2d", None)

    def test_fitting(self, data, split, stored):
        bases = stored["L_hat"]
        model = on_bases("chebnet2d", bases, hidden_channels=4)
        with pytest.raises(InputError, match="batch_size must be an integer >= 1"):
            fit_on_bases(model, bases, split, batch_size=0)
        with pytest.raises(InputError, match="labels must be 400 class indices"):
            fit_on_bases(model, bases, split, labels=data.y[:5])
        with pytest.raises(InputError, match="the split must hold labelled nodes only"):
            fit_on_bases(model, bases, split, labels=torch.full((400,), -1))
        with pytest.raises(InputError, match="the model must be of degree 4, as the bases, got 3"):
            fit_on_bases(FilterFirst("chebnet2d", 10, 3, degree=3), bases, split)
        with pytest.raises(InputError, match="labels must be below the model's 2 classes, got 2"):
            fit_on_bases(on_bases("chebnet2d", bases, 2), bases, split, epochs=1)
        empty = copy.copy(split)
        object.__setattr__(empty, "val", torch.empty(0, dtype=torch.long))
        with pytest.raises(InputError, match="split.train and split.val must not be empty"):
            fit_on_bases(model, bases, empty)
        other = chebnet2d.data.split(data, "uniform", seed=1)
        with pytest.raises(InputError, match="the runs of one stack must have one split"):
            fit_many_on_bases([Run(model, split), Run(copy.deepcopy(model), other)], bases)

    def test_bases_without_labels(self, data, tmp_path):
        operator = large_operator(data.edge_index, 400)
        bases = precompute(operator, data.x, out=tmp_path / "b", degree=2)
        with pytest.raises(InputError, match="out_channels must be given for bases without labels"):
            on_bases("chebnet2d", bases)
        model = on_bases("chebnet2d", bases, 3, hidden_channels=4)
        split = chebnet2d.data.split(data, "uniform", seed=0)
        with pytest.raises(InputError, match="labels must be given for bases without labels"):
            fit_on_bases(model, bases, split)
        assert fit_on_bases(model, bases, split, labels=data.y, epochs=2).epochs == 2


class TestTraining:
    def test_one_batch_an_epoch_is_adam_by_hand(self, data, split, stored):
        bases = stored["L_hat"]
        model = on_bases("chebnet2d", bases, hidden_channels=5, dropout=0.0)
        result = fit_on_bases(
            model,
            bases,
            split,
            seed=3,
            batch_size=10**6,
            epochs=8,
            lr=0.02,
            weight_decay=1e-3,
            filter_lr=0.05,
            filter_weight_decay=0.0,
        )
        other = on_bases("chebnet2d", bases, hidden_channels=5, dropout=0.0)
        chebnet2d.training.initialise_parameters(other, 3)
        filters = list(other.conv.parameters())
        rest = [p for name, p in other.named_parameters() if not name.startswith("conv.")]
        adam = torch.optim.Adam(
            [{"params": filters, "lr": 0.05, "weight_decay": 0.0}, {"params": rest, "lr": 0.02, "weight_decay": 1e-3}]
        )
        losses = []
        for _ in range(8):
            adam.zero_grad()
            loss = torch.nn.functional.cross_entropy(other(bases.terms(split.train)), data.y[split.train])
            loss.backward()
            adam.step()
            with torch.no_grad():
                losses.append(float(torch.nn.functional.cross_entropy(other(bases.terms(split.val)), data.y[split.val])))
        assert result.history.val_loss == pytest.approx(losses, abs=1e-5)

    @pytest.mark.parametrize("reading", ["filter-first", "each-basis"])
    @pytest.mark.parametrize("method", list(METHODS))
    def test_every_method_learns(self, data, split, stored, method, reading):
        bases = bases_for(stored, method)
        model = on_bases(method, bases, reading=reading, hidden_channels=16, dropout=0.2)
        result = fit_on_bases(model, bases, split, seed=1, batch_size=100, epochs=40, lr=0.02)
        assert result.test_accuracy > 0.7  # chance is 1 / 3, features alone give about 0.8 at best
        logits = predict_on_bases(model, bases, split.test)
        assert result.test_accuracy == pytest.approx(float((logits.argmax(1) == data.y[split.test]).double().mean()))
        assert result.val_metric == max(result.history.val_metric)
        assert result.test_roc_auc is None

    def test_the_same_seed_gives_the_same_result(self, split, stored):
        bases = stored["L_hat"]

        def train(seed):
            model = on_bases("chebnet2d", bases, hidden_channels=6, dropout=0.5)
            return fit_on_bases(model, bases, split, seed=seed, batch_size=50, epochs=4)

        first, again, other = train(5), train(5), train(6)
        assert first.history == again.history
        assert all(torch.equal(a, b) for a, b in zip(first.model.parameters(), again.model.parameters(), strict=True))
        assert first.history.val_loss != other.history.val_loss

    def test_rows_in_memory_or_from_disk(self, split, stored):
        bases = stored["L_hat"]

        def train(memory):
            model = on_bases("chebnet2d", bases, hidden_channels=6)
            return fit_on_bases(model, bases, split, batch_size=50, epochs=4, memory=memory).history

        assert train(1) == train("1GiB")

    def test_a_run_in_a_stack_follows_the_same_run_alone(self, split, stored):
        bases = stored["L_hat"]
        cases = [(1, 0.5, 0.01, 6), (2, 0.2, 0.03, 4), (3, 0.0, 0.01, 6)]

        def runs(chosen):
            return [
                Run(
                    on_bases("chebnet2d", bases, hidden_channels=6, dropout=p),
                    split,
                    seed,
                    Settings.of(lr=lr, epochs=epochs),
                )
                for seed, p, lr, epochs in chosen
            ]

        together = fit_many_on_bases(runs(cases), bases, batch_size=60)
        for case, result in zip(cases, together, strict=True):
            alone = fit_many_on_bases(runs([case]), bases, batch_size=60)[0]
            assert result.epochs == case[3]
            assert result.history.val_loss == pytest.approx(alone.history.val_loss, abs=1e-4)
            assert result.test_accuracy == pytest.approx(alone.test_accuracy, abs=0.03)

    def test_shards_change_the_random_streams_only(self, split, stored):
        bases = stored["L_hat"]

        def train(shards, dropout):
            model = on_bases("chebnet2d", bases, hidden_channels=6, dropout=dropout)
            return fit_on_bases(model, bases, split, batch_size=64, epochs=4, shards=shards).history.val_loss

        assert train(1, 0.0) == pytest.approx(train(3, 0.0), abs=1e-5)
        assert train(1, 0.5) != pytest.approx(train(3, 0.5), abs=1e-5)

    def test_roc_auc_where_the_data_has_it(self, tmp_path):
        data = chebnet2d.data.load("csbm", nodes=200, classes=2, features=5, seed=2)
        data.metric = "roc_auc"
        bases = precompute(data, out=tmp_path / "b", degree=2)
        split = chebnet2d.data.split(data, "uniform", seed=0)
        model = on_bases("chebnetii", bases, hidden_channels=5)
        result = fit_on_bases(model, bases, split, batch_size=32, epochs=5)
        for part, found in (("val", result.val_metric), ("test", result.test_roc_auc)):
            nodes = getattr(split, part)
            logits = predict_on_bases(model, bases, nodes)
            assert found == pytest.approx(roc_auc_score(data.y[nodes].numpy(), (logits[:, 1] - logits[:, 0]).numpy()))
        assert result.metric == "roc_auc"

    def test_early_stopping_and_progress(self, split, stored):
        bases = stored["L_hat"]
        seen = []
        model = on_bases("chebnet2d", bases, hidden_channels=6)
        result = fit_on_bases(
            model, bases, split, batch_size=80, epochs=500, patience=3, monitor="loss", lr=0.05, progress=seen.append
        )
        assert result.epochs == result.best_epoch + 3 == len(seen)
        assert result.val_loss == min(result.history.val_loss)
        assert seen[-1].best_val_metric == pytest.approx(result.val_metric)

    def test_half_precision_on_disk(self, data, split, stored, tmp_path):
        half = precompute(data, out=tmp_path / "h", degree=4, dtype="float16")
        results = []
        for bases in (stored["L_hat"], half):
            model = on_bases("chebnet2d", bases, hidden_channels=8, dropout=0.0)
            results.append(fit_on_bases(model, bases, split, batch_size=100, epochs=10))
        assert results[0].history.val_loss == pytest.approx(results[1].history.val_loss, abs=0.01)

    def test_batch_norm(self, split, stored):
        model = FilterFirst("chebnet2d", 10, 3, hidden_channels=8, degree=4, batch_norm=True)
        result = fit_on_bases(model, stored["L_hat"], split, batch_size=100, epochs=5)
        assert np.isfinite(result.val_loss)
        assert float(model.mlp.norms[0].running_mean.abs().sum()) > 0

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
    @pytest.mark.parametrize("memory", [1, "1GiB"])
    def test_a_gpu_follows_the_cpu(self, split, stored, memory):
        histories = []
        for device in ("cpu", "cuda"):
            model = EachBasis("chebnet2d", 10, 3, hidden_channels=6, degree=4)
            result = fit_on_bases(model, stored["L_hat"], split, batch_size=50, epochs=3, device=device, memory=memory)
            histories.append(result.history.val_loss)
        assert histories[0] == pytest.approx(histories[1], abs=1e-3)
