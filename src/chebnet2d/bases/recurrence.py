"""The terms p_0(M) X, ..., p_D(M) X of one block of columns, in as few N x b buffers as the basis allows."""

from collections.abc import Iterator

import torch
from torch import Tensor

from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis, ThreeTermBasis


def buffers_needed(basis: Basis) -> int:
    """N x b matrices alive at once, the first term included."""
    return 2 if isinstance(basis, ThreeTermBasis) else 6


def block_terms(operator: SparseOperator, basis: Basis, start: Tensor, spare: Tensor, degree: int) -> Iterator[Tensor]:
    """The terms, each to be used before the next is asked for. ``start`` is overwritten, and so is ``spare`` of its shape."""
    if not isinstance(basis, ThreeTermBasis):
        with torch.no_grad():
            yield from basis.terms(lambda v: operator.csr @ v.contiguous(), start, degree)
        return
    yield start
    before, current = spare, start
    for k in range(1, degree + 1):
        a, b, c = basis.step(k)
        # p_k = (a M + b) p_{k-1} + c p_{k-2} is written over p_{k-2}.
        if k == 1 or c == 0:
            before.zero_()
        operator.step(current, before, alpha=a, beta=c if k > 1 and c != 0 else 1.0, out=before)
        if b != 0:
            before.add_(current, alpha=b)
        before, current = current, before
        yield current
