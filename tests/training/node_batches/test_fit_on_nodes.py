"""Training on mini batches of nodes against the full batch and Adam by hand."""

import numpy as np
import pytest
import torch
import torch_geometric.nn
import torch_geometric.utils

import chebnet2d
from batch_examples import NODES, everywhere, gcn, linkx, nodeformer, task_of, with_weights
from chebnet2d.models import LINKX, MLPClassifier
from chebnet2d.training import Batches, fit


class TestTraining:
    @pytest.mark.parametrize(
        ("build", "options"),
        [
            (gcn, {"num_layers": 3, "batch_norm": True}),
            (nodeformer, {"dropout": 0.2}),
            (lambda data, **more: MLPClassifier(data.num_features, 3, **more), {}),
            (linkx, {"num_layers": 2}),
        ],
        ids=["gcn", "nodeformer", "mlp", "linkx"],
    )
    @pytest.mark.parametrize("change", [lambda same: same, with_weights], ids=["plain", "weights"])
    def test_one_batch_of_all_nodes_is_the_full_batch(self, data, build, options, change):
        data = change(data)
        split = everywhere(data)  # LINKX takes rows of training nodes: all of them here, for the same batch norm
        settings = {"epochs": 6, "lr": 0.02, "weight_decay": 1e-3}
        full = chebnet2d.fit(build(data, **options), data, split, 3, **settings)
        sampling = "induced" if build in (gcn, nodeformer) else "rows"
        one = fit(build(data, **options), data, split, 3, batches=Batches(10**6, sampling=sampling), **settings)
        assert one.history.train_loss == pytest.approx(full.history.train_loss, abs=1e-5)
        assert one.history.val_loss == pytest.approx(full.history.val_loss, abs=1e-5)
        assert one.test["accuracy"] == pytest.approx(full.test["accuracy"], abs=1e-6)
        assert one.best_epoch == full.best_epoch

    def test_steps_are_those_of_adam_on_each_batch(self, data, split):
        model, other = gcn(data, dropout=0.0), gcn(data, dropout=0.0)
        fit(model, data, split, 5, batches=Batches(70), epochs=1, lr=0.03, weight_decay=0.001)
        chebnet2d.training.initialise_parameters(other, 5)
        adam = torch.optim.Adam(other.parameters(), lr=0.03, weight_decay=1e-3)
        counts = torch.zeros(NODES, dtype=torch.bool)
        counts[split.train] = True
        for nodes in task_of(other, data, split, 70, 5)._cut(np.arange(NODES), 1):
            chosen = torch.from_numpy(nodes)
            edge_index, _ = torch_geometric.utils.subgraph(chosen, data.edge_index, relabel_nodes=True, num_nodes=NODES)
            logits = other(data.x[chosen], edge_index)
            adam.zero_grad()
            torch.nn.functional.cross_entropy(logits[counts[chosen]], data.y[chosen][counts[chosen]]).backward()
            adam.step()
        for found, expected in zip(model.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)

    def test_the_penalty_of_a_model_is_part_of_the_step(self, data, split):
        histories = []
        for weight in (1e-9, 5.0):
            model = nodeformer(data, edge_loss=weight)
            histories.append(fit(model, data, split, 1, batches=Batches(60), epochs=3).history.train_loss)
        assert histories[0][0] != pytest.approx(histories[1][0], abs=1e-4)

    def test_the_same_seed_gives_the_same_result(self, data, split):
        def trained(seed):
            return fit(gcn(data), data, split, seed, batches=Batches(60), epochs=3)

        first, again, other = trained(5), trained(5), trained(6)
        assert first.history == again.history
        assert all(torch.equal(a, b) for a, b in zip(first.model.parameters(), again.model.parameters(), strict=True))
        assert first.history.val_loss != other.history.val_loss

    @pytest.mark.parametrize(
        ("build", "sampling"),
        [(linkx, None), (gcn, None), (gcn, "induced-train"), (nodeformer, "induced"), (nodeformer, None)],
    )
    def test_more_than_chance(self, data, split, build, sampling):
        model = build(data, dropout=0.1)
        result = fit(model, data, split, batches=Batches(80, sampling=sampling), epochs=30, lr=0.02)
        assert result.test["accuracy"] > 0.6  # chance is 1 / 3
        labels = model.predict(data).labels
        assert result.test["accuracy"] == pytest.approx(float((labels == data.y)[split.test].double().mean()))
        assert result.val_metric == max(result.history.val_metric)

    def test_evaluation_in_parts_sees_a_thinner_graph(self, data, split):
        def trained(evaluation, batch_size):
            return fit(gcn(data, dropout=0.0), data, split, 1, batches=Batches(batch_size, evaluation=evaluation), epochs=3)

        assert trained("parts", 10**6).history == trained("whole", 10**6).history
        assert trained("parts", 60).history.train_loss == trained("whole", 60).history.train_loss
        assert trained("parts", 60).history.val_loss != pytest.approx(trained("whole", 60).history.val_loss, abs=1e-4)

    def test_looks_at_the_validation_nodes_now_and_then(self, data, split):
        seen = []
        model = gcn(data)
        result = fit(model, data, split, batches=Batches(80, evaluate_every=3), epochs=8, monitor="loss", progress=seen.append)
        often = fit(gcn(data), data, split, batches=Batches(80), epochs=8, monitor="loss")
        assert len(seen) == result.epochs == len(result.history.train_loss) == 8
        looked = [often.history.val_loss[epoch - 1] for epoch in (3, 6, 8)]
        assert result.history.val_loss == pytest.approx(looked)
        assert result.best_epoch == (3, 6, 8)[int(np.argmin(looked))]

    def test_early_stopping_counts_epochs(self, data, split):
        result = fit(gcn(data), data, split, batches=Batches(80), epochs=400, patience=4, lr=0.1, monitor="loss")
        assert result.epochs == result.best_epoch + 4

    def test_roc_auc_where_the_data_has_it(self):
        from sklearn.metrics import roc_auc_score

        data = chebnet2d.data.load("csbm", nodes=150, classes=2, features=5, seed=2)
        data.metric = "roc_auc"
        split = chebnet2d.data.split(data, "uniform", seed=0)
        model = LINKX(5, 2, num_nodes=150, hidden_channels=8)
        result = fit(model, data, split, batches=Batches(32), epochs=4)
        logits = model(data.x, data.edge_index).detach()[split.test]
        assert result.metric == "roc_auc"
        assert result.test["roc_auc"] == pytest.approx(
            roc_auc_score(data.y[split.test].numpy(), (logits[:, 1] - logits[:, 0]).numpy())
        )

    def test_unlabelled_nodes_are_context_only(self, data):
        hidden = data.clone()
        hidden.y = data.y.clone()
        hidden.y[::4] = -1
        split = chebnet2d.data.split(hidden, "uniform", seed=0)
        result = fit(gcn(data), hidden, split, batches=Batches(50), epochs=3)
        assert np.isfinite(result.val_loss)

    def test_any_module_with_the_usual_signature(self, data, split):
        class Mean(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(8, 3)

            def forward(self, x, edge_index, edge_weight=None):
                row, col = edge_index
                return self.linear(x + torch.zeros_like(x).index_add(0, row, x[col]))

        assert fit(Mean(), data, split, batches=Batches(80), epochs=10, lr=0.05).test["accuracy"] > 0.5
