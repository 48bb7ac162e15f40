"""sum_k p_k(M) X W_k for wide or sparse X: first the maps, then the graph."""

from torch import Tensor

from chebnet2d.graph import SparseOperator
from chebnet2d.nn.dropout import Features
from chebnet2d.polynomials import ThreeTermBasis


def project_first(operator: SparseOperator, x: Features, maps: Tensor, basis: ThreeTermBasis) -> Tensor:
    """sum_k p_k(operator) x maps[k], with maps (D + 1) x F x C, by Clenshaw's backward recurrence.

    The graph is multiplied with C columns instead of F, x is read only by products from the right (so it stays sparse), and
    autograd keeps nothing of size N x F: every step is linear.
    """
    degree = maps.shape[0] - 1
    current = x @ maps[degree]
    later: Tensor | None = None  # b_{k+2} of Clenshaw: none yet
    for k in range(degree - 1, -1, -1):
        a, b, _ = basis.step(k + 1)
        total = x @ maps[k] + a * (operator @ current)
        if b != 0:
            total = total + b * current
        if later is not None:
            c = basis.step(k + 2)[2]
            total = total if c == 0 else total + c * later
        current, later = total, current
    return current
