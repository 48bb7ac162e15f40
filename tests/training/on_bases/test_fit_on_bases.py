"""Training on bases. Oracles: torch.optim.Adam by hand, scikit-learn, runs alone."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

import chebnet2d
from bases_of_methods import bases_for
from chebnet2d.bases import precompute
from chebnet2d.models import EachBasis, FilterFirst, on_bases
from chebnet2d.training import Batches, Run, Settings, fit, fit_many
from chebnet2d.training.tasks.bases import BasesSource


class TestTraining:
    def test_one_batch_an_epoch_is_adam_by_hand(self, data, split, stored):
        bases = stored["L_hat"]
        model = on_bases("chebnet2d", bases, hidden_channels=5, dropout=0.0)
        result = fit(
            model,
            bases,
            split,
            batches=Batches(10**6),
            seed=3,
            epochs=8,
            lr=0.02,
            weight_decay=0.001,
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
    @pytest.mark.parametrize("method", ["chebnet2d", "chebnetii", "optbasis", "gprgnn", "jacobiconv", "specgn"])
    def test_every_method_learns(self, data, split, stored, method, reading):
        bases = bases_for(stored, method)
        model = on_bases(method, bases, reading=reading, hidden_channels=16, dropout=0.2)
        result = fit(model, bases, split, batches=Batches(100), seed=1, epochs=40, lr=0.02)
        assert result.test["accuracy"] > 0.7  # chance is 1 / 3, features alone give about 0.8 at best
        logits = model(bases.terms(split.test)).detach()
        assert result.test["accuracy"] == pytest.approx(float((logits.argmax(1) == data.y[split.test]).double().mean()))
        assert result.val_metric == max(result.history.val_metric)
        assert "roc_auc" not in result.test

    def test_the_same_seed_gives_the_same_result(self, split, stored):
        bases = stored["L_hat"]

        def train(seed):
            model = on_bases("chebnet2d", bases, hidden_channels=6, dropout=0.5)
            return fit(model, bases, split, batches=Batches(50), seed=seed, epochs=4)

        first, again, other = train(5), train(5), train(6)
        assert first.history == again.history
        assert all(torch.equal(a, b) for a, b in zip(first.model.parameters(), again.model.parameters(), strict=True))
        assert first.history.val_loss != other.history.val_loss

    def test_rows_in_memory_or_from_disk(self, split, stored):
        bases = stored["L_hat"]

        def train(memory):
            model = on_bases("chebnet2d", bases, hidden_channels=6)
            return fit(model, bases, split, batches=Batches(50, memory=memory), epochs=4).history

        rows = 4 * (bases.degree + 1) * bases.num_features
        only_training = rows * split.train.numel()
        assert train(1) == train(only_training) == train("1GiB")
        held = {}
        for memory in (1, only_training, only_training + rows * split.val.numel()):
            run = Run(on_bases("chebnet2d", bases), split, 0, Settings())
            source = BasesSource(bases, Batches(50, memory=memory), [run], torch.device("cpu"))
            held[memory] = [part is not None for part in (source.held, source.held_val)]
        assert list(held.values()) == [[False, False], [True, False], [True, True]]

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

        together = fit_many(runs(cases), bases, batches=Batches(60))
        for case, result in zip(cases, together, strict=True):
            alone = fit_many(runs([case]), bases, batches=Batches(60))[0]
            assert result.epochs == case[3]
            assert result.history.val_loss == pytest.approx(alone.history.val_loss, abs=1e-4)
            assert result.test["accuracy"] == pytest.approx(alone.test["accuracy"], abs=0.03)

    def test_shards_change_the_random_streams_only(self, split, stored):
        bases = stored["L_hat"]

        def train(shards, dropout):
            model = on_bases("chebnet2d", bases, hidden_channels=6, dropout=dropout)
            return fit(model, bases, split, batches=Batches(64, shards=shards), epochs=4).history.val_loss

        assert train(1, 0.0) == pytest.approx(train(3, 0.0), abs=1e-5)
        assert train(1, 0.5) != pytest.approx(train(3, 0.5), abs=1e-5)

    def test_roc_auc_where_the_data_has_it(self, tmp_path):
        data = chebnet2d.data.load("csbm", nodes=200, classes=2, features=5, seed=2)
        data.metric = "roc_auc"
        bases = precompute(data, out=tmp_path / "b", degree=2)
        split = chebnet2d.data.split(data, "uniform", seed=0)
        model = on_bases("chebnetii", bases, hidden_channels=5)
        result = fit(model, bases, split, batches=Batches(32), epochs=5)
        for part, found in (("val", result.val_metric), ("test", result.test["roc_auc"])):
            nodes = getattr(split, part)
            logits = model(bases.terms(nodes)).detach()
            assert found == pytest.approx(roc_auc_score(data.y[nodes].numpy(), (logits[:, 1] - logits[:, 0]).numpy()))
        assert result.metric == "roc_auc"

    def test_early_stopping_and_progress(self, split, stored):
        bases = stored["L_hat"]
        seen = []
        model = on_bases("chebnet2d", bases, hidden_channels=6)
        result = fit(
            model, bases, split, batches=Batches(80), epochs=500, patience=3, monitor="loss", lr=0.05, progress=seen.append
        )
        assert result.epochs == result.best_epoch + 3 == len(seen)
        assert result.val_loss == min(result.history.val_loss)
        assert seen[-1].best_val_metric == pytest.approx(result.val_metric)

    def test_half_precision_on_disk(self, data, split, stored, tmp_path):
        half = precompute(data, out=tmp_path / "h", degree=4, dtype="float16")
        results = []
        for bases in (stored["L_hat"], half):
            model = on_bases("chebnet2d", bases, hidden_channels=8, dropout=0.0)
            results.append(fit(model, bases, split, batches=Batches(100), epochs=10))
        assert results[0].history.val_loss == pytest.approx(results[1].history.val_loss, abs=0.01)

    def test_batch_norm(self, split, stored):
        model = FilterFirst("chebnet2d", 10, 3, hidden_channels=8, degree=4, batch_norm=True)
        result = fit(model, stored["L_hat"], split, batches=Batches(100), epochs=5)
        assert np.isfinite(result.val_loss)
        assert float(model.mlp.norms[0].running_mean.abs().sum()) > 0

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
    @pytest.mark.parametrize("memory", [1, "1GiB"])
    def test_a_gpu_follows_the_cpu(self, split, stored, memory):
        histories = []
        for device in ("cpu", "cuda"):
            model = EachBasis("chebnet2d", 10, 3, hidden_channels=6, degree=4)
            result = fit(model, stored["L_hat"], split, batches=Batches(50, memory=memory), epochs=3, device=device)
            histories.append(result.history.val_loss)
        assert histories[0] == pytest.approx(histories[1], abs=1e-3)
