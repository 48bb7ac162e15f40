import copy

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

import chebnet2d
from chebnet2d.nn import Dropout, Linear, Stream
from chebnet2d.training import Group, Run, Settings, fit_many, stack_width
from chebnet2d.training.metrics import negative_log_likelihood, node_weights, roc_auc, weighted_accuracy
from chebnet2d.training.stack import Stack


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=120, classes=3, features=20, homophily=0.8, seed=0)


def doubled(data):
    data = copy.copy(data)
    data.x = data.x.double()
    return data


def model(data, **options):
    return chebnet2d.ChebNet2D(data.num_features, 3, **{"hidden_channels": 8, "degree": 4, **options})


def split(data, seed=0):
    return chebnet2d.data.split(data, "uniform", seed=seed)


CASES = [(1, 0.5, 0.01, 5e-4), (2, 0.3, 0.02, 0.0), (3, 0.0, 0.005, 1e-2), (4, 0.7, 0.01, 5e-4)]


class TestStack:
    def runs(self, data, cases, **options):
        return [
            Run(
                model(data, dropout=p, filter_dropout=p / 2).double(),
                split(data, seed),
                seed,
                Settings.of(lr=lr, weight_decay=wd, filter_lr=2 * lr, epochs=20, **options),
            )
            for seed, p, lr, wd in cases
        ]

    @pytest.mark.parametrize("sparse", [False, True])
    def test_a_run_in_a_stack_follows_the_same_run_alone(self, data, sparse):
        data = doubled(data)
        if sparse:
            data.x = (data.x * (data.x > 1)).to_sparse_csr()
        together = fit_many(self.runs(data, CASES), data, width=4)
        alone = [fit_many(self.runs(data, [case]), data)[0] for case in CASES]
        other_order = fit_many(self.runs(data, CASES[::-1][:3]), data, width=3)[::-1]
        for first, second in [*zip(together, alone, strict=True), *zip(together[1:], other_order, strict=True)]:
            assert first.best_epoch == second.best_epoch
            for a, b in zip(first.model.parameters(), second.model.parameters(), strict=True):
                torch.testing.assert_close(a, b, rtol=0, atol=1e-5)
            assert first.history.val_loss == pytest.approx(second.history.val_loss, abs=1e-6)

    def test_a_run_that_stops_leaves_and_the_others_go_on(self, data):
        data = doubled(data)
        runs = self.runs(data, CASES)
        short = [Run(r.model, r.split, r.seed, Settings.of(lr=0.01, epochs=e)) for r, e in zip(runs, (3, 12, 7, 12), strict=True)]
        results = fit_many(short, data, width=4)
        assert [result.epochs for result in results] == [3, 12, 7, 12]
        again = fit_many(
            [Run(model(data, dropout=0.7, filter_dropout=0.35).double(), short[3].split, 4, short[3].settings)], data
        )[0]
        assert results[3].history.val_loss == pytest.approx(again.history.val_loss, abs=1e-6)

    def test_steps_are_those_of_torch_adam(self, data):
        """One run without dropout, by hand with torch.optim.Adam and two groups."""
        data = doubled(data)
        ours = model(data, dropout=0.0).double()
        result = chebnet2d.fit(
            ours,
            data,
            split(data),
            5,
            lr=0.02,
            weight_decay=1e-3,
            filter_lr=0.05,
            filter_weight_decay=0.1,
            epochs=15,
            monitor="loss",
        )
        theirs = model(data, dropout=0.0).double()
        chebnet2d.training.initialise_parameters(theirs, 5)
        optimizer = torch.optim.Adam(
            [
                {"params": theirs.mlp.parameters(), "lr": 0.02, "weight_decay": 1e-3},
                {"params": theirs.conv.parameters(), "lr": 0.05, "weight_decay": 0.1},
            ]
        )
        losses = []
        for _ in range(15):
            optimizer.zero_grad()
            part = split(data).train
            loss = nn.functional.cross_entropy(theirs(data.x, data.edge_index)[part], data.y[part])
            losses.append(loss.item())
            loss.backward()
            optimizer.step()
        assert result.history.train_loss == pytest.approx(losses, abs=1e-10)

    @pytest.mark.parametrize("name", ["ADC", "GADC"])
    def test_times_of_diffusion_are_fitted_on_validation_nodes_where_asked(self, data, name):
        """By hand with two optimisers, as the authors do it: weights on the training loss, then the diffusion on the other."""
        data = doubled(data)

        def make(t_on):
            cls = getattr(chebnet2d.models, name)
            return cls(data.num_features, data.num_classes, 8, dropout=0.0, t_on=t_on).double()

        part = split(data)
        settings = {"lr": 0.02, "weight_decay": 0.0, "first_weight_decay": 0.1, "diffusion_lr": 0.05, "epochs": 8}
        runs = [Run(make("validation"), part, seed, Settings.of(**settings)) for seed in (5, 6)]
        result = fit_many(runs, data, width=2)[0]
        theirs = make("train")
        chebnet2d.training.initialise_parameters(theirs, 5)
        groups = {group: [] for group in ("weights", "first", "diffusion")}
        for parameter_name, parameter in theirs.named_parameters():
            groups[theirs.group_of(parameter_name)].append(parameter)
        first = {"params": groups["first"], "weight_decay": 0.1}
        on_train = torch.optim.Adam([{"params": groups["weights"]}, first], lr=0.02)
        on_validation = torch.optim.Adam(groups["diffusion"], lr=0.05)
        losses = []
        for _ in range(8):
            for optimizer, nodes in ((on_train, part.train), (on_validation, part.val)):
                theirs.zero_grad()
                loss = nn.functional.cross_entropy(theirs(data.x, data.edge_index)[nodes], data.y[nodes])
                loss.backward()
                optimizer.step()
                if optimizer is on_train:
                    losses.append(loss.item())
        assert result.history.train_loss == pytest.approx(losses, abs=1e-10)
        with pytest.raises(chebnet2d.InputError, match="fitted on training nodes alone, got .*, which fits diffusion on"):
            chebnet2d.training.fit_on_nodes(make("validation"), data, part, batch_size=20)

    def test_adamw_decouples_weight_decay(self, data):
        data = doubled(data)
        result = chebnet2d.fit(
            model(data, dropout=0.0).double(), data, split(data), 5, lr=0.02, weight_decay=0.3, epochs=8, optimizer="adamw"
        )
        theirs = model(data, dropout=0.0).double()
        chebnet2d.training.initialise_parameters(theirs, 5)
        optimizer = torch.optim.AdamW(theirs.parameters(), lr=0.02, weight_decay=0.3)
        losses = []
        for _ in range(8):
            optimizer.zero_grad()
            part = split(data).train
            loss = nn.functional.cross_entropy(theirs(data.x, data.edge_index)[part], data.y[part])
            losses.append(loss.item())
            loss.backward()
            optimizer.step()
        assert result.history.train_loss == pytest.approx(losses, abs=1e-10)

    def test_buffers_that_are_saved_are_state(self):
        class WithState(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.norm = nn.Linear(3, 2), nn.BatchNorm1d(2)

            def forward(self, x, edge_index, edge_weight=None):
                return self.norm(self.linear(x))

        stack = Stack([WithState(), WithState()], [Settings(), Settings()], [Stream(0), Stream(1)])
        assert "norm.running_mean" in stack.states
        x = torch.randn(10, 3)
        stack.forward((x, None), training=True)
        means = stack.states["norm.running_mean"]
        assert means.abs().sum() > 0
        assert not torch.equal(means[0], means[1])


def test_plain_modules_go_in(data):
    class Plain(nn.Module):
        def __init__(self, p):
            super().__init__()
            self.lin, self.drop = Linear(20, 3), Dropout(p)

        def forward(self, x, edge_index, edge_weight=None):
            return self.lin(self.drop(x))

    results = fit_many([Run(Plain(p), split(data), s, Settings.of(epochs=30)) for s, p in enumerate((0.1, 0.5))], data)
    assert all(result.test_accuracy > 0.4 for result in results)


def test_same_seed_same_result(data):
    results = [chebnet2d.fit(model(data), data, split(data), seed=3, epochs=25) for _ in range(2)]
    assert results[0].history == results[1].history
    assert results[0].test_accuracy == results[1].test_accuracy
    assert chebnet2d.fit(model(data), data, split(data), seed=4, epochs=25).history != results[0].history


def test_going_on_from_the_parameters_at_hand(data):
    trained = model(data)
    first = chebnet2d.fit(trained, data, split(data), seed=0, epochs=60)
    second = chebnet2d.fit(trained, data, split(data), seed=0, epochs=1, initialise=False)
    assert second.history.train_loss[0] < first.history.train_loss[0] / 2


def test_early_stopping_and_the_restored_state(data):
    fitted = model(data)
    result = chebnet2d.fit(fitted, data, split(data), seed=0, patience=10, epochs=500, lr=0.05)
    assert result.epochs < 500
    assert result.epochs == result.best_epoch + 10
    assert result.val_metric == max(result.history.val_metric)
    predicted = fitted.predict(data)
    val, test = split(data).val, split(data).test
    assert float((predicted.labels[val] == data.y[val]).double().mean()) == pytest.approx(result.val_metric)
    assert float((predicted.labels[test] == data.y[test]).double().mean()) == pytest.approx(result.test_accuracy)
    assert result.test_metric == result.test_accuracy
    by_loss = chebnet2d.fit(fitted, data, split(data), seed=0, patience=10, epochs=500, lr=0.05, monitor="loss")
    assert by_loss.val_loss == min(by_loss.history.val_loss)


def test_test_labels_do_not_matter_for_training(data):
    """Validation selects: with other test labels everything but the test score is the same."""
    other = copy.copy(data)
    other.y = data.y.clone()
    other.y[split(data).test] = (other.y[split(data).test] + 1) % 3
    a = chebnet2d.fit(model(data), data, split(data), seed=1, epochs=30)
    b = chebnet2d.fit(model(data), other, split(data), seed=1, epochs=30)
    assert a.history == b.history
    assert a.test_accuracy != b.test_accuracy


def test_without_test_scores(data):
    result = fit_many([Run(model(data), split(data), 0, Settings.of(epochs=3))], data, test=False)[0]
    assert result.test_accuracy is None
    assert result.test_metric is None


def test_progress_is_reported(data):
    seen = []
    chebnet2d.fit(model(data), data, split(data), epochs=4, progress=seen.append)
    assert [p.epoch for p in seen] == [1, 2, 3, 4]
    assert seen[-1].active == 0


def test_roc_auc_runs_use_it_for_selection():
    data = chebnet2d.data.load("csbm", nodes=150, classes=2, features=10, homophily=0.8, seed=1)
    data.metric = "roc_auc"
    fitted = chebnet2d.ChebNet2D(10, 2, hidden_channels=8, degree=3)
    result = chebnet2d.fit(fitted, data, split(data), seed=0, epochs=40)
    prediction = fitted.predict(data)
    for part, score in ((split(data).val, result.val_metric), (split(data).test, result.test_roc_auc)):
        assert roc_auc_score(data.y[part], prediction.probabilities[part, 1]) == pytest.approx(score, abs=1e-6)
    assert result.metric == "roc_auc"
    assert result.test_metric == result.test_roc_auc


def test_metrics_against_torch_and_sklearn():
    logits, y = torch.randn(3, 20, 2, dtype=torch.float64), torch.randint(0, 2, (20,))
    logits[0, :5] = logits[0, 5:10]  # ties
    nodes = [torch.randperm(20)[:k] for k in (8, 12, 20)]
    weights = node_weights(nodes, 20, logits)
    for r, part in enumerate(nodes):
        expected = nn.functional.cross_entropy(logits[r, part], y[part])
        torch.testing.assert_close((negative_log_likelihood(logits, y) * weights).sum(1)[r], expected)
        right = (logits[r, part].argmax(1) == y[part]).double().mean()
        torch.testing.assert_close(weighted_accuracy(logits, y, weights)[r], right)
        score = logits[r, part, 1] - logits[r, part, 0]
        assert roc_auc(logits[r], y, part) == pytest.approx(roc_auc_score(y[part], score))
    assert roc_auc(logits[0], torch.zeros(20, dtype=torch.long), nodes[0]) != roc_auc(logits[0], y, nodes[0])


def test_settings_from_flat_names():
    settings = Settings.of(lr=0.1, filter_lr=0.5, filter_weight_decay=0.0, alpha_lr=None, epochs=7)
    assert settings.group("weights") == Group(0.1, 5e-4)
    assert settings.group("filter") == Group(0.5, 0.0)
    assert settings.group("other") == Group(0.1, 5e-4)
    assert settings.epochs == 7


def test_width_shrinks_with_the_graph(data):
    small = stack_width(model(data), data)
    big = chebnet2d.data.load("csbm", nodes=20_000, classes=3, features=20, homophily=0.8, seed=0)
    assert 1 <= stack_width(model(data, hidden_channels=256), big) < small <= 32


def test_the_device_is_asked_for_or_the_models_own():
    data = chebnet2d.data.load("csbm")
    split = chebnet2d.data.split(data, "uniform", seed=0)

    def trained(**options):
        model = chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), hidden_channels=8, degree=3)
        return chebnet2d.fit(model, data, split, seed=1, epochs=3, **options)

    assert trained().val_loss == trained(device="cpu").val_loss == trained(device=torch.device("cpu")).val_loss
    with pytest.raises(chebnet2d.InputError, match="device must be 'cpu', 'cuda' or 'cuda:N', got 'gpu'"):
        trained(device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(chebnet2d.InputError, match="device must be one that this machine has, got 'cuda' and no CUDA device"):
            trained(device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("batches", [{}, {"batch_size": 200, "sampling": "induced"}])
def test_a_gpu_gives_the_same_up_to_rounding(batches):
    data = chebnet2d.data.load("csbm")
    split = chebnet2d.data.split(data, "uniform", seed=0)
    fit = chebnet2d.training.fit_on_nodes if batches else chebnet2d.fit
    losses = {}
    for device in ("cpu", "cuda"):
        model = chebnet2d.models.GCN(data.num_features, chebnet2d.data.num_classes(data))
        result = fit(model, data, split, seed=1, epochs=5, device=device, **batches)
        assert next(result.model.parameters()).device.type == device
        losses[device] = result.val_loss
    assert losses["cuda"] == pytest.approx(losses["cpu"], rel=1e-3)
