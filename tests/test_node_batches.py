"""Mini batches of nodes: against the full batch, against dense submatrices, and what each method may be trained on."""

import copy
import json

import numpy as np
import pytest
import scipy.sparse
import torch
import torch_geometric.nn
import torch_geometric.utils
from hypothesis import given
from hypothesis import strategies as st

import chebnet2d
from chebnet2d import InputError
from chebnet2d.graph import SparseOperator, adjacency
from chebnet2d.models import GCN, LINKX, GloGNN, MLPClassifier, NodeFormer
from chebnet2d.training import Run
from chebnet2d.training.node_batches import SAMPLINGS, NodeTask, fit_on_nodes, induced, sampling_of
from test_cli import run

NODES = 240


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=NODES, classes=3, features=8, homophily=0.85, degree=12, seed=4)


@pytest.fixture(scope="module")
def split(data):
    return chebnet2d.data.split(data, "uniform", seed=0)


def linkx(data, **options):
    return LINKX(data.num_features, 3, num_nodes=data.num_nodes, **{"hidden_channels": 12, **options})


def gcn(data, **options):
    return GCN(data.num_features, 3, **{"hidden_channels": 12, **options})


def nodeformer(data, **options):
    small = {"hidden_channels": 8, "num_heads": 1, "num_features": 10, "gumbel_samples": 2, "relational_order": 1}
    return NodeFormer(data.num_features, 3, **{**small, **options})


def with_weights(data):
    weighted = data.clone()
    low, high = data.edge_index.min(dim=0).values, data.edge_index.max(dim=0).values
    weighted.edge_weight = 0.5 + ((7 * low + 3 * high) % 10) / 10
    return weighted


def with_sparse_features(data):
    sparse = data.clone()
    sparse.x = (data.x * (data.x > 1.0)).to_sparse_csr()
    return sparse


def everywhere(data):
    """A split whose training part is the whole graph."""
    made = copy.copy(chebnet2d.data.split(data, "uniform", seed=0))
    object.__setattr__(made, "train", torch.arange(data.num_nodes))
    return made


@st.composite
def cut_matrices(draw):
    size = draw(st.integers(1, 12))
    seed = draw(st.integers(0, 10**6))
    nodes = draw(st.sets(st.integers(0, size - 1), min_size=1))
    return scipy.sparse.random_array((size, size), density=draw(st.sampled_from([0.0, 0.2, 0.9])), rng=seed), sorted(nodes)


class TestBatches:
    @given(cut_matrices())
    def test_the_induced_matrix_is_the_dense_submatrix(self, case):
        matrix, nodes = case
        matrix = scipy.sparse.csr_array(matrix)
        found = induced(matrix, np.array(nodes))
        assert found.has_sorted_indices
        np.testing.assert_array_equal(found.toarray(), matrix.toarray()[np.ix_(nodes, nodes)])

    @pytest.mark.parametrize("change", [lambda same: same, with_weights], ids=["plain", "weighted"])
    def test_an_induced_batch_is_torch_geometrics_subgraph(self, data, split, change):
        data = change(data)
        task = NodeTask(Run(gcn(data), split), data, 50)
        nodes = task.batches_of(task.pool, 3)[1]
        x, edge_index, weight = task._inputs(nodes)
        expected, expected_weight = torch_geometric.utils.subgraph(
            torch.from_numpy(nodes), data.edge_index, data.get("edge_weight"), relabel_nodes=True, num_nodes=NODES
        )
        assert torch.equal(x, data.x[nodes])
        assert torch.equal(edge_index, expected)
        assert (weight is None) == (expected_weight is None)
        if weight is not None:
            torch.testing.assert_close(weight, expected_weight.float())

    def test_a_ready_operator_is_cut_as_it_is(self, data, split):
        operator = SparseOperator.from_scipy(scipy.sparse.csr_array(np.diag(np.arange(NODES)) + 1.0), symmetric=True)
        given_operator = data.clone()
        given_operator.edge_index = operator
        task = NodeTask(Run(gcn(data), split), given_operator, 50)
        nodes = task.batches_of(task.pool, 1)[0]
        _, cut, weight = task._inputs(nodes)
        assert weight is None
        assert cut.symmetric
        torch.testing.assert_close(cut.to_dense(), operator.to_dense()[nodes][:, nodes])

    @pytest.mark.parametrize("sampling", SAMPLINGS)
    @pytest.mark.parametrize("batch_size", [7, 50, 10**6])
    def test_an_epoch_learns_from_every_training_node_once(self, data, split, sampling, batch_size):
        model = linkx(data) if sampling == "rows" else gcn(data)
        task = NodeTask(Run(model, split, seed=2), data, batch_size, sampling)
        pool = torch.arange(NODES) if sampling == "induced" else split.train
        seen = np.concatenate(task.batches_of(task.pool, 5))
        assert sorted(seen) == pool.tolist()
        counted = []
        for rows, [((x, _, _), y)] in task.training_batches(5, 1, range(1)):
            assert x.shape[0] == y.numel() <= batch_size
            assert rows == int((y >= 0).sum())
            counted += [tuple(row) for row in x[y >= 0].tolist()]
        assert sorted(counted) == sorted(tuple(row) for row in data.x[split.train].tolist())

    def test_batches_are_of_even_size_and_follow_seed_and_epoch(self, data, split):
        def batches(seed, epoch):
            return [part.tolist() for part in NodeTask(Run(gcn(data), split, seed), data, 100).batches_of(np.arange(241), epoch)]

        assert [len(part) for part in batches(0, 1)] == [81, 80, 80]
        assert batches(0, 1) == batches(0, 1)
        assert batches(0, 1) != batches(0, 2)
        assert batches(0, 1) != batches(1, 1)

    @pytest.mark.parametrize(
        "change", [lambda same: same, with_weights, with_sparse_features], ids=["plain", "weights", "sparse"]
    )
    def test_rows_of_linkx_are_rows_of_the_full_answer(self, data, split, change):
        data = change(data)
        model = linkx(data, num_layers=3, adjacency_layers=2, feature_layers=2).double().train()
        x = data.x.to_dense().double()
        for _ in range(3):
            model(x, data.edge_index, data.get("edge_weight"))  # batch norm has something to remember
        task = NodeTask(Run(model.eval(), split), data, 37)
        dense = adjacency(data.edge_index, data.get("edge_weight"), NODES).to_dense()
        full = model(x, SparseOperator.from_dense(dense)).detach()
        for nodes in task.batches_of(np.arange(NODES), 1):
            inputs = task._inputs(nodes)
            torch.testing.assert_close(inputs[1].to_dense(), dense[nodes], atol=1e-7, rtol=1e-7)
            torch.testing.assert_close(model(*inputs).detach(), full[nodes], atol=1e-5, rtol=1e-5)

    def test_gradients_of_row_batches_add_up_to_the_full_gradient(self, data):
        model = linkx(data, num_layers=1).double()  # one layer each: no batch norm
        task = NodeTask(Run(model, everywhere(data)), data, 60)
        total = [torch.zeros_like(parameter) for parameter in model.parameters()]
        for _, [(inputs, y)] in task.training_batches(1, 1, range(1)):
            loss = torch.nn.functional.cross_entropy(model(*inputs), y, reduction="sum")
            for sum_so_far, part in zip(total, torch.autograd.grad(loss, list(model.parameters())), strict=True):
                sum_so_far += part
        loss = torch.nn.functional.cross_entropy(model(data.x.double(), data.edge_index), data.y, reduction="sum")
        for expected, found in zip(torch.autograd.grad(loss, list(model.parameters())), total, strict=True):
            torch.testing.assert_close(found, expected)


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
        one = fit_on_nodes(build(data, **options), data, split, 3, batch_size=10**6, sampling=sampling, **settings)
        assert one.history.train_loss == pytest.approx(full.history.train_loss, abs=1e-5)
        assert one.history.val_loss == pytest.approx(full.history.val_loss, abs=1e-5)
        assert one.test_accuracy == pytest.approx(full.test_accuracy, abs=1e-6)
        assert one.best_epoch == full.best_epoch

    def test_steps_are_those_of_adam_on_each_batch(self, data, split):
        model, other = gcn(data, dropout=0.0), gcn(data, dropout=0.0)
        fit_on_nodes(model, data, split, 5, batch_size=70, epochs=1, lr=0.03, weight_decay=1e-3)
        chebnet2d.training.initialise_parameters(other, 5)
        adam = torch.optim.Adam(other.parameters(), lr=0.03, weight_decay=1e-3)
        counts = torch.zeros(NODES, dtype=torch.bool)
        counts[split.train] = True
        for nodes in NodeTask(Run(other, split, 5), data, 70).batches_of(np.arange(NODES), 1):
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
            histories.append(fit_on_nodes(model, data, split, 1, batch_size=60, epochs=3).history.train_loss)
        assert histories[0][0] != pytest.approx(histories[1][0], abs=1e-4)

    def test_the_same_seed_gives_the_same_result(self, data, split):
        def trained(seed):
            return fit_on_nodes(gcn(data), data, split, seed, batch_size=60, epochs=3)

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
        result = fit_on_nodes(model, data, split, batch_size=80, sampling=sampling, epochs=30, lr=0.02)
        assert result.test_accuracy > 0.6  # chance is 1 / 3
        labels = model.predict(data).labels
        assert result.test_accuracy == pytest.approx(float((labels == data.y)[split.test].double().mean()))
        assert result.val_metric == max(result.history.val_metric)

    def test_evaluation_in_parts_sees_a_thinner_graph(self, data, split):
        def trained(evaluation, batch_size):
            options = {"batch_size": batch_size, "evaluation": evaluation, "epochs": 3}
            return fit_on_nodes(gcn(data, dropout=0.0), data, split, 1, **options)

        assert trained("parts", 10**6).history == trained("whole", 10**6).history
        assert trained("parts", 60).history.train_loss == trained("whole", 60).history.train_loss
        assert trained("parts", 60).history.val_loss != pytest.approx(trained("whole", 60).history.val_loss, abs=1e-4)

    def test_looks_at_the_validation_nodes_now_and_then(self, data, split):
        seen = []
        model = gcn(data)
        result = fit_on_nodes(model, data, split, batch_size=80, epochs=8, evaluate_every=3, monitor="loss", progress=seen.append)
        often = fit_on_nodes(gcn(data), data, split, batch_size=80, epochs=8, monitor="loss")
        assert len(seen) == result.epochs == len(result.history.train_loss) == 8
        looked = [often.history.val_loss[epoch - 1] for epoch in (3, 6, 8)]
        assert result.history.val_loss == pytest.approx(looked)
        assert result.best_epoch == (3, 6, 8)[int(np.argmin(looked))]

    def test_early_stopping_counts_epochs(self, data, split):
        result = fit_on_nodes(gcn(data), data, split, batch_size=80, epochs=400, patience=4, lr=0.1, monitor="loss")
        assert result.epochs == result.best_epoch + 4

    def test_roc_auc_where_the_data_has_it(self):
        from sklearn.metrics import roc_auc_score

        data = chebnet2d.data.load("csbm", nodes=150, classes=2, features=5, seed=2)
        data.metric = "roc_auc"
        split = chebnet2d.data.split(data, "uniform", seed=0)
        model = LINKX(5, 2, num_nodes=150, hidden_channels=8)
        result = fit_on_nodes(model, data, split, batch_size=32, epochs=4)
        logits = model(data.x, data.edge_index).detach()[split.test]
        assert result.metric == "roc_auc"
        assert result.test_roc_auc == pytest.approx(
            roc_auc_score(data.y[split.test].numpy(), (logits[:, 1] - logits[:, 0]).numpy())
        )

    def test_unlabelled_nodes_are_context_only(self, data):
        hidden = data.clone()
        hidden.y = data.y.clone()
        hidden.y[::4] = -1
        split = chebnet2d.data.split(hidden, "uniform", seed=0)
        result = fit_on_nodes(gcn(data), hidden, split, batch_size=50, epochs=3)
        assert np.isfinite(result.val_loss)

    def test_any_module_with_the_usual_signature(self, data, split):
        class Mean(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(8, 3)

            def forward(self, x, edge_index, edge_weight=None):
                row, col = edge_index
                return self.linear(x + torch.zeros_like(x).index_add(0, row, x[col]))

        assert fit_on_nodes(Mean(), data, split, batch_size=80, epochs=10, lr=0.05).test_accuracy > 0.5


class TestNarrowFeatures:
    """GCN multiplies the graph with the features themselves where they are fewer than the hidden units."""

    @pytest.mark.parametrize("batch_norm", [False, True])
    def test_it_is_torch_geometrics_layers(self, data, batch_norm):
        data = with_weights(data)
        model = gcn(data, num_layers=3, batch_norm=batch_norm).double().eval()
        x = data.x.double().requires_grad_()
        for _ in range(2):  # the second time from memory
            hidden = x
            for i, ours in enumerate(model.layers):
                layer = torch_geometric.nn.GCNConv(*ours.weight.shape, bias=ours.bias is not None).double()
                layer.lin.weight.data = ours.weight.data.T
                hidden = layer(hidden, data.edge_index, data.edge_weight.double())
                hidden = hidden if i == 2 else (model.norms[i](hidden) if batch_norm else hidden).relu()
            for given_x in (x, x.detach()):
                torch.testing.assert_close(model(given_x, data.edge_index, data.edge_weight), hidden)
        found = torch.autograd.grad(model(x, data.edge_index, data.edge_weight).square().sum(), [x, *model.parameters()])
        kept = torch.autograd.grad(model(x.detach(), data.edge_index, data.edge_weight).square().sum(), list(model.parameters()))
        assert float(found[0].abs().sum()) > 0
        for one, other in zip(found[1:], kept, strict=True):
            torch.testing.assert_close(one, other)

    def test_what_is_kept_follows_the_features_and_the_mode(self, data):
        model = gcn(data).eval()
        x = data.x.clone()
        with torch.inference_mode():
            before = model(x, data.edge_index).clone()
        torch.testing.assert_close(model(x, data.edge_index), before)
        model(x, data.edge_index).sum().backward()  # nothing of inference mode was kept
        x *= 2
        torch.testing.assert_close(model(x, data.edge_index), model(x.clone(), data.edge_index))
        assert not torch.allclose(model(x, data.edge_index), before)


class TestCommand:
    def test_train_in_batches(self):
        command = [
            "train",
            "digits",
            "--method",
            "gcn",
            "--epochs",
            "4",
            "--batch-size",
            "400",
            "--evaluate-every",
            "2",
            "--json",
        ]
        record = json.loads(run(*command).stdout)
        assert record["batches"] == {"batch_size": 400, "evaluate_every": 2, "sampling": "induced"}
        assert record["epochs"] == 4
        data = chebnet2d.data.load("digits")
        result = fit_on_nodes(
            GCN(data.num_features, 10), data, chebnet2d.data.split(data), batch_size=400, evaluate_every=2, epochs=4
        )
        assert record["test_accuracy"] == pytest.approx(result.test_accuracy)
        assert json.loads(run("train", "digits", "--epochs", "1", "--json").stdout)["batches"] is None

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["--sampling", "rows"], "train: --sampling must come with --batch-size, got it without"),
            (["--evaluate-every", "2"], "train: --evaluate-every must come with --batch-size"),
            (["--batch-size", "99", "--method", "glognn"], "got GloGNN, where every node needs all others"),
            (["--batch-size", "99", "--method", "linkx", "--sampling", "induced"], "sampling must be 'rows' for LINKX"),
            (["--batch-size", "1", "--method", "gcn"], "train: --batch-size must be an integer >= 2, got 1"),
        ],
    )
    def test_wrong_calls(self, options, sentence):
        assert sentence in " ".join(run("train", "digits", *options, code=2).stderr.split())


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"batch_size": 1}, "fit_on_nodes: batch_size must be an integer >= 2, got 1"),
            ({"sampling": "row"}, "fit_on_nodes: sampling must be one of .* got 'row' .* Did you mean 'rows'"),
            ({"sampling": "rows"}, "fit_on_nodes: sampling must be 'induced' or 'induced-train' for GCN, got 'rows'"),
            ({"evaluation": "half"}, "fit_on_nodes: evaluation must be one of 'whole', 'parts', got 'half'"),
            ({"evaluate_every": 0}, "fit_on_nodes: evaluate_every must be an integer >= 1, got 0"),
            ({"seed": -1}, "fit_on_nodes: seed must be an integer >= 0, got -1"),
            ({"initialise": 1}, "fit_on_nodes: initialise must be True or False"),
            ({"learning_rate": 1}, "Settings: every name must be one of .* got 'learning_rate'"),
        ],
    )
    def test_arguments(self, data, split, options, sentence):
        with pytest.raises(InputError, match=sentence):
            fit_on_nodes(gcn(data), data, split, **options)

    def test_methods(self, data, split):
        whole = GloGNN(data.num_features, 3, num_nodes=NODES)
        with pytest.raises(InputError, match="must work on a part of the nodes, got GloGNN, .* Train it with fit"):
            fit_on_nodes(whole, data, split)
        with pytest.raises(InputError, match="sampling must be 'rows' for LINKX, got 'induced'"):
            fit_on_nodes(linkx(data), data, split, sampling="induced")
        assert sampling_of(linkx(data)) == "rows"
        assert sampling_of(NodeFormer) == "induced-train"
        assert sampling_of(torch.nn.Linear(2, 2)) == "induced"

    def test_data_and_split(self, data, split):
        with pytest.raises(InputError, match="fit_on_nodes: labels must be below the model's 2 classes, got 2"):
            fit_on_nodes(GCN(data.num_features, 2), data, split, epochs=1)
        empty = copy.copy(split)
        object.__setattr__(empty, "val", torch.empty(0, dtype=torch.long))
        with pytest.raises(InputError, match="split.val must not be empty"):
            fit_on_nodes(gcn(data), data, empty)
        nan = data.clone()
        nan.x = data.x.clone()
        nan.x[3, 1] = float("nan")
        with pytest.raises(InputError, match="data.x must be finite"):
            fit_on_nodes(gcn(data), nan, split)

    def test_rows_of_linkx(self, data):
        model = linkx(data)
        with pytest.raises(InputError, match="LINKX: x must have num_nodes = 240 rows, got 10"):
            model(data.x[:10], data.edge_index)
        with pytest.raises(InputError, match="LINKX: x must have num_nodes = 240 rows, got 10"):
            model(data.x[:10], SparseOperator.from_dense(torch.eye(10)))
        with pytest.raises(InputError, match="edge_weight must be None when the graph is a SparseOperator"):
            model(data.x, SparseOperator.from_dense(torch.eye(NODES)), torch.ones(3))
