"""The Chebyshev recurrence on a signal."""

from collections.abc import Iterator

from torch import Tensor

from chebnet2d.graph import SparseOperator


def chebyshev_terms(operator: SparseOperator, x: Tensor, degree: int) -> Iterator[Tensor]:
    """T_0(operator) x, ..., T_degree(operator) x, each N x C, without autograd; only the last two are kept.

    T_{d+1} = (2 L) T_d - T_{d-1}: the doubled values are made once, which costs less than a pass over N x C per degree.
    """
    yield x
    if degree == 0:
        return
    before, current = x, operator.multiply(x)
    yield current
    doubled = operator.values * 2
    for _ in range(2, degree + 1):
        before, current = current, operator.multiply(current, doubled).sub_(before)
        yield current
