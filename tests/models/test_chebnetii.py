"""ChebNetII and ChebBase against interpolation by scipy and series by numpy."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats
import torch

from chebnet2d import models
from dense_graph import F_IN, C, by_eigenvalues, close, filter_input, numpy, ready


@pytest.mark.parametrize("layout", ["logits", "hidden", "first", "between"])
def test_chebnetii_against_scipys_interpolation(dense, layout):
    model = ready(models.ChebNetII(F_IN, C, 5, degree=6, layout=layout))
    nodes = np.cos((np.arange(7) + 0.5) * np.pi / 7)
    values = np.maximum(numpy(model.conv.paradigm.theta), 0)
    interpolant = scipy.interpolate.BarycentricInterpolator(nodes, values)
    x = numpy(dense.x)
    enter = {"first": x, "hidden": np.maximum(filter_input(model, dense), 0)}.get(layout)
    filtered = torch.from_numpy(by_eigenvalues(-dense.p, filter_input(model, dense) if enter is None else enter, interpolant))
    leave = {"first": model.mlp, "between": getattr(model, "second_mlp", None), "hidden": getattr(model, "classifier", None)}
    expected = filtered if layout == "logits" else leave[layout](filtered)
    close(model(*dense.inputs), numpy(expected))


def test_chebnetii_starts_as_its_mlp_and_variant_v_from_squares(dense):
    model = models.ChebNetII(F_IN, C).double().eval()
    close(model(*dense.inputs), filter_input(model, dense))
    start = models.ChebNetII(F_IN, C, degree=4, layout="hidden").conv.paradigm.theta
    np.testing.assert_allclose(numpy(start), np.cos((np.arange(5) + 0.5) * np.pi / 5) ** 2, atol=1e-7)


def test_chebbase_against_numpys_series(dense):
    model = ready(models.ChebBase(F_IN, C, 5, degree=6, q=1.5))
    series = numpy(model.conv.paradigm.theta) / np.maximum(np.arange(7), 1) ** 1.5
    expected = by_eigenvalues(-dense.p, filter_input(model, dense), lambda at: np.polynomial.chebyshev.chebval(at, series))
    close(model(*dense.inputs), expected)
