"""sum_k p_k(M) X W_k for wide or sparse X: first the maps, then the graph."""

from collections.abc import Callable

from torch import Tensor

from chebnet2d.graph import SparseOperator
from chebnet2d.nn import Features
from chebnet2d.polynomials import ThreeTermBasis


def project_first(
    operator: SparseOperator, x: Features, map_of: Callable[[int], Tensor], degree: int, basis: ThreeTermBasis
) -> Tensor:
    """sum_{k <= degree} p_k(operator) x W_k, with W_k = map_of(k): F x C, by Clenshaw's backward recurrence.

    The graph is multiplied with C columns instead of F, x is read only by products from the right (so it stays sparse), and
    autograd keeps nothing of size N x F: every step is linear. The maps are asked for one at a time.
    """
    current = x @ map_of(degree)
    later: Tensor | None = None  # b_{k+2} of Clenshaw: none yet
    for k in range(degree - 1, -1, -1):
        a, b, _ = basis.step(k + 1)
        total = x @ map_of(k) + a * (operator @ current)
        if b != 0:
            total = total + b * current
        if later is not None:
            c = basis.step(k + 2)[2]
            total = total if c == 0 else total + c * later
        current, later = total, current
    return current
