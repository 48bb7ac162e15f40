"""Wrong arguments of the polynomial and diffusion methods."""

import pytest

from chebnet2d import InputError, models


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: models.APPNP(4, 2, alpha=1.5), r"APPNP: alpha must be a number in \[0, 1\], got 1.5"),
        (lambda: models.GPRGNN(4, 2, init="pagerank"), "GPRGNN: init must be one of 'ppr', 'nppr', 'sgc', 'random'"),
        (lambda: models.GPRGNN(4, 2, init="sgc", alpha=0.5), "GPRGNN: alpha must be an integer from 0 to 10, got 0.5"),
        (lambda: models.GNNLF(4, 2, alpha=1.0), r"GNNLF: alpha must be a number in \[0.001, 1\)"),
        (lambda: models.GNNHF(4, 2, form="dense"), "GNNHF: form must be one of 'iterative', 'closed'"),
        (lambda: models.ChebNetII(4, 2, layout="last"), "ChebNetII: layout must be one of"),
        (lambda: models.JacobiConv(4, 2, sign="minus"), "JacobiConv: sign must be one of 'published', 'correct'"),
        (lambda: models.JacobiConv(4, 2, a=-1.0, b=-1.0), "Jacobi: a and b must not both be -1"),
        (lambda: models.ADC(4, 2, t_on="test"), "ADC: t_on must be one of 'train', 'validation', got 'test'"),
        (lambda: models.OptBasis(4, 2, variant="official"), "OptBasis: variant must be one of 'faithful', 'unified'"),
        (lambda: models.DSGC(4, 2, rows="walk"), "DSGC: rows must be one of 'rw', 'lp', 'none'"),
        (lambda: models.ChebNet(4, 2, terms=0), "ChebNet: terms must be an integer >= 1, got 0"),
    ],
)
def test_wrong_arguments_are_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()
