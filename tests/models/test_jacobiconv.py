"""JacobiConv and its other bases against scipy's polynomials."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats

from chebnet2d import models
from dense_graph import F_IN, C, by_eigenvalues, close, filter_input, numpy, ready


@pytest.mark.parametrize(("a", "b"), [(0.75, -0.25), (-0.5, 1.0), (1.0, 1.0)])
@pytest.mark.parametrize("variant", ["faithful", "unified"])
def test_jacobiconv_with_the_correct_sign_against_scipy(dense, a, b, variant):
    model = ready(models.JacobiConv(F_IN, C, 5, degree=6, a=a, b=b, alpha=1.4, sign="correct", variant=variant))
    w, eta = numpy(model.conv.paradigm.theta), numpy(model.conv.paradigm.eta)
    scale = np.concatenate([[1.0], np.cumprod(1.4 * np.tanh(eta))])

    def g(eigenvalues: np.ndarray) -> np.ndarray:
        values = np.stack([scipy.special.eval_jacobi(k, a, b, eigenvalues) * scale[k] for k in range(7)], axis=1)
        return values @ w

    expected = by_eigenvalues(dense.p, filter_input(model, dense), g)
    close(model(*dense.inputs), expected)
    published = models.JacobiConv(F_IN, C, 5, degree=6, a=a, b=b, alpha=1.4, sign="published", variant=variant).double().eval()
    published.load_state_dict(model.state_dict())
    deviation = np.abs(numpy(published(*dense.inputs)) - expected).max()
    assert deviation < 1e-10 if a**2 == b**2 else deviation > 1e-3, "the published sign is right where a^2 = b^2 only"


@pytest.mark.parametrize(
    ("basis", "value"),
    [
        ("legendre", lambda k, x: scipy.special.eval_legendre(k, x)),
        ("chebyshev", lambda k, x: scipy.special.eval_chebyu(k, x)),
        ("monomial", lambda k, x: x**k),
        ("bernstein", lambda k, x: scipy.stats.binom.pmf(k, 6, np.clip((1 - x) / 2, 0, 1))),
    ],
)
def test_other_bases_of_jacobiconv_against_scipy(dense, basis, value):
    model = ready(models.JacobiConv(F_IN, C, 5, degree=6, basis=basis, alpha=1.4))
    w = numpy(model.conv.paradigm.theta)
    scale = np.ones(7)
    if basis != "bernstein":
        scale[1:] = np.cumprod(1.4 * np.tanh(numpy(model.conv.paradigm.eta)))
    expected = by_eigenvalues(
        dense.p, filter_input(model, dense), lambda at: np.stack([value(k, at) * scale[k] for k in range(7)], axis=1) @ w
    )
    close(model(*dense.inputs), expected)
