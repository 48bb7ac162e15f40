"""Runs in a stack against the same runs alone, and steps against torch's optimisers."""

import pytest
import torch
from torch import nn

import chebnet2d
from chebnet2d.kernels.random_streams import Stream
from chebnet2d.nn import Dropout, Linear
from chebnet2d.training import Batches, Run, Settings, fit, fit_many, stack_width
from chebnet2d.training.learners.stack import Stack
from small_runs import doubled, model
from uniform_split import split

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
            fit(make("validation"), data, part, batches=Batches(20))

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
    assert all(result.test["accuracy"] > 0.4 for result in results)


def test_width_shrinks_with_the_graph(data):
    small = stack_width(model(data), data)
    big = chebnet2d.data.load("csbm", nodes=20_000, classes=3, features=20, homophily=0.8, seed=0)
    assert 1 <= stack_width(model(data, hidden_channels=256), big) < small <= 32
