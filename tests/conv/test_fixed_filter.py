"""Filters without parameters against functions of the eigenvalues."""

import numpy as np
import pytest

from chebnet2d import InputError
from chebnet2d.conv import FixedFilter
from dense_graph import by_eigenvalues, close, numpy


@pytest.mark.parametrize("g", [np.exp, lambda x: 1 / (1.05 - x), lambda x: np.ones_like(x)])
def test_fixed_filter_of_a_function(dense, g):
    conv = FixedFilter.of_function(g, operator="P").double()
    close(conv(dense.x, *dense.inputs[1:]), by_eigenvalues(dense.p, numpy(dense.x), g), atol=1e-11)


def test_fixed_filter_refuses_what_is_no_filter():
    with pytest.raises(InputError, match="its Chebyshev series does not end"):
        FixedFilter.of_function(np.abs)
    with pytest.raises(InputError, match="coefficients must be finite numbers"):
        FixedFilter([1.0, float("nan")])
    with pytest.raises(InputError, match="coefficients must be finite numbers"):
        FixedFilter([])


def test_constants_are_exact_in_double_precision():
    conv = FixedFilter([0.1, 0.7]).double()
    np.testing.assert_allclose(numpy(conv.weights), [0.1, 0.7], rtol=1e-14)
    np.testing.assert_allclose(numpy(conv.float().double().weights), [0.1, 0.7], rtol=1e-14)
    assert not conv.state_dict()
