"""Wrong calls of models and training on bases."""

import copy

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import large_operator, precompute
from chebnet2d.models import FilterFirst, on_bases
from chebnet2d.training import Run, fit, fit_many


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("method", "which", "sentence"),
        [
            ("gprgnn", "L_hat", "the bases must be of the operator P~ for this method, got L_hat"),
            ("optbasis", "L_hat", "the bases must be orthonormal of P for this method, got chebyshev"),
            ("chebnet2d", "orthonormal", "the bases must be chebyshev of L_hat for this method, got orthonormal"),
            ("chebnet3d", "L_hat", "method must be one of .*'chebnet2d'.* Did you mean 'chebnet2d'"),
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
        with pytest.raises(InputError, match="size must be an integer >= 1"):
            fit(model, bases, split, batches=0)
        with pytest.raises(InputError, match="the split must hold labelled nodes only"):
            fit(model, bases.with_labels(torch.full((400,), -1)), split)
        with pytest.raises(InputError, match="the model must be of degree 4, as the bases, got 3"):
            fit(FilterFirst("chebnet2d", 10, 3, degree=3), bases, split)
        with pytest.raises(InputError, match="labels must be below the model's 2 classes, got 2"):
            fit(on_bases("chebnet2d", bases, 2), bases, split, epochs=1)
        empty = copy.copy(split)
        object.__setattr__(empty, "val", torch.empty(0, dtype=torch.long))
        with pytest.raises(InputError, match="split.train and split.val must not be empty"):
            fit(model, bases, empty)
        other = chebnet2d.data.split(data, "uniform", seed=1)
        with pytest.raises(InputError, match="runs on bases must have one split"):
            fit_many([Run(model, split), Run(copy.deepcopy(model), other)], bases)

    def test_bases_without_labels(self, data, tmp_path):
        operator = large_operator(data.edge_index, 400)
        bases = precompute(operator, data.x, out=tmp_path / "b", degree=2)
        with pytest.raises(InputError, match="out_channels must be given for bases without labels"):
            on_bases("chebnet2d", bases)
        model = on_bases("chebnet2d", bases, 3, hidden_channels=4)
        split = chebnet2d.data.split(data, "uniform", seed=0)
        with pytest.raises(InputError, match="the bases must have labels, got none"):
            fit(model, bases, split)
        assert fit(model, bases.with_labels(data.y), split, epochs=2).epochs == 2
