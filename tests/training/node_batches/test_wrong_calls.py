"""Wrong calls of training on mini batches, and what each method may be trained on."""

import copy

import pytest
import torch
from batch_examples import NODES, gcn, linkx
from chebnet2d.training.node_batches import fit_on_nodes, sampling_of

from chebnet2d import InputError
from chebnet2d.graph import SparseOperator
from chebnet2d.models import GCN, GloGNN, NodeFormer


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
