"""Wrong calls of training on mini batches, and what each method may be trained on."""

import copy

import pytest
import torch

from batch_examples import NODES, gcn, linkx
from chebnet2d import InputError
from chebnet2d.graph import SparseOperator
from chebnet2d.models import GCN, GloGNN, NodeFormer
from chebnet2d.training import Batches, fit, sampling_of


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"batches": 1}, "fit: batches.size must be an integer >= 2, got 1"),
            ({"batches": "many"}, "fit: batches must be a number of nodes or Batches, got 'many'"),
            (
                {"batches": Batches(9, sampling="rows")},
                "fit: sampling must be 'induced' or 'induced-train' or 'neighbours' for GCN, got 'rows'",
            ),
            ({"batches": 9, "seed": -1}, "fit: seed must be an integer >= 0, got -1"),
            ({"batches": 9, "initialise": 1}, "fit: initialise must be True or False"),
            ({"batches": 9, "learning_rate": 1}, "Settings: every name must be one of .* got 'learning_rate'"),
        ],
    )
    def test_arguments(self, data, split, options, sentence):
        with pytest.raises(InputError, match=sentence):
            fit(gcn(data), data, split, **options)

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"sampling": "row"}, "Batches: sampling must be one of .* got 'row'. Did you mean 'rows'"),
            ({"evaluation": "half"}, "Batches: evaluation must be one of 'whole', 'parts', got 'half'"),
            ({"evaluate_every": 0}, "Batches: evaluate_every must be an integer >= 1, got 0"),
            ({"shards": 11, "size": 10}, "Batches: shards must be an integer from 1 to 10, got 11"),
        ],
    )
    def test_batches(self, options, sentence):
        with pytest.raises(InputError, match=sentence):
            Batches(**options)

    def test_methods(self, data, split):
        whole = GloGNN(data.num_features, 3, num_nodes=NODES)
        with pytest.raises(InputError, match="must work on a part of the nodes, got GloGNN, .* Train it with fit"):
            fit(whole, data, split, batches=Batches())
        with pytest.raises(InputError, match="sampling must be 'rows' for LINKX, got 'induced'"):
            fit(linkx(data), data, split, batches=Batches(sampling="induced"))
        assert sampling_of(linkx(data)) == "rows"
        assert sampling_of(NodeFormer) == "induced-train"
        assert sampling_of(torch.nn.Linear(2, 2)) == "induced"

    def test_data_and_split(self, data, split):
        with pytest.raises(InputError, match="fit: labels must be below the model's 2 classes, got 2"):
            fit(GCN(data.num_features, 2), data, split, batches=Batches(), epochs=1)
        empty = copy.copy(split)
        object.__setattr__(empty, "val", torch.empty(0, dtype=torch.long))
        with pytest.raises(InputError, match="split.val must not be empty"):
            fit(gcn(data), data, empty, batches=Batches())
        nan = data.clone()
        nan.x = data.x.clone()
        nan.x[3, 1] = float("nan")
        with pytest.raises(InputError, match="data.x must be finite"):
            fit(gcn(data), nan, split, batches=Batches())

    def test_rows_of_linkx(self, data):
        model = linkx(data)
        with pytest.raises(InputError, match="LINKX: x must have num_nodes = 240 rows, got 10"):
            model(data.x[:10], data.edge_index)
        with pytest.raises(InputError, match="LINKX: x must have num_nodes = 240 rows, got 10"):
            model(data.x[:10], SparseOperator.from_dense(torch.eye(10)))
        with pytest.raises(InputError, match="edge_weight must be None when the graph is a SparseOperator"):
            model(data.x, SparseOperator.from_dense(torch.eye(NODES)), torch.ones(3))
