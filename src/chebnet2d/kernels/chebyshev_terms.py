"""The Chebyshev recurrence on a signal, in two buffers."""

from collections.abc import Iterator

from torch import Tensor

from chebnet2d.graph import SparseOperator


def chebyshev_terms(operator: SparseOperator, x: Tensor, degree: int) -> Iterator[Tensor]:
    """T_0(operator) x, ..., T_degree(operator) x, each N x C, without autograd.

    A term is valid until the next but one is asked for: T_{d+1} = 2 L T_d - T_{d-1} is written over T_{d-1}, so that two buffers
    serve all degrees and no memory is allocated per degree. x itself is never written to.
    """
    yield x
    if degree == 0:
        return
    before, current = x, operator.csr @ x
    yield current
    for d in range(2, degree + 1):
        following = operator.step(current, before, alpha=2.0, beta=-1.0, out=before if d > 2 else None)
        before, current = current, following
        yield current
