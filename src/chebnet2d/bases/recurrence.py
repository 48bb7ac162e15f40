"""The terms p_0(M) X, ..., p_D(M) X of one block of columns, in as few N x b buffers as the basis allows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis, ThreeTermBasis

_ROWS = 1 << 15  # rows of a product at a time: they are still in the cache when they are added to the result


def buffers_needed(basis: Basis) -> int:
    """How many N x b matrices are alive at once, the first term included."""
    return 2 if isinstance(basis, ThreeTermBasis) else 6


def block_terms(
    operator: SparseOperator | DiskOperator, basis: Basis, start: Tensor, spare: Tensor, degree: int
) -> Iterator[Tensor]:
    """The terms, each as it is until the next is there. ``start`` is overwritten, and so is ``spare`` of its shape."""
    if not isinstance(basis, ThreeTermBasis):
        with torch.no_grad():
            yield from basis.terms(lambda v: large_step(operator, v.contiguous(), torch.empty_like(v)), start, degree)
        return
    yield start
    before, current = spare, start
    for k in range(1, degree + 1):
        a, b, c = basis.step(k)
        # p_k = (a M + b) p_{k-1} + c p_{k-2} is written over p_{k-2}.
        large_step(operator, current, before, alpha=a, beta=c if k > 1 else 0.0)
        if b != 0:
            before.add_(current, alpha=b)
        before, current = current, before
        yield current


def large_step(operator: SparseOperator | DiskOperator, x: Tensor, out: Tensor, alpha: float = 1.0, beta: float = 0.0) -> Tensor:
    """``out = alpha * operator @ x + beta * out`` for graphs whose x fits no cache.

    There a product waits for memory, since it reads rows of x in no order. An embedding bag computes the same sums, and its
    kernel prefetches the rows: it is two to three times as fast as a sparse product (benchmarks/large/product.py).
    """
    if isinstance(operator, SparseOperator) and (x.device.type != "cpu" or not x.dtype == operator.dtype == torch.float32):
        product = operator.multiply(x)
        return torch.mul(product, alpha, out=out) if beta == 0 else out.mul_(beta).add_(product, alpha=alpha)
    with torch.no_grad():
        for start in range(0, out.shape[0], _ROWS):
            target = out[start : start + _ROWS]
            bags, columns, weights = operator_rows(operator, start, start + target.shape[0])
            part = embedding_bag(columns, x, bags, mode="sum", per_sample_weights=weights, include_last_offset=True)
            if beta == 0:
                torch.mul(part, alpha, out=target)
            else:
                target.mul_(beta).add_(part, alpha=alpha)
    return out


def some_rows(operator: SparseOperator | DiskOperator, wanted: Any) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Of some rows, in ascending order and by parts: which, where each begins among their entries, columns and values."""
    for numbers in np.split(wanted, np.flatnonzero(np.diff(wanted // _ROWS)) + 1):
        if numbers.size == 0:
            continue
        first = int(numbers[0])
        bags, columns, weights = operator_rows(operator, first, int(numbers[-1]) + 1)
        starts = bags.numpy().astype(np.int64)
        begin, sizes = starts[numbers - first], np.diff(starts)[numbers - first]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        entries = torch.from_numpy(np.repeat(begin - offsets[:-1], sizes) + np.arange(offsets[-1]))
        yield torch.from_numpy(numbers), torch.from_numpy(offsets).to(bags.dtype), columns[entries], weights[entries]


def operator_rows(operator: SparseOperator | DiskOperator, start: int, stop: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of some rows: where each begins among their entries, columns and values."""
    if isinstance(operator, DiskOperator):
        return operator.rows(start, stop)
    crow, col, values = operator.csr.crow_indices(), operator.csr.col_indices(), operator.csr.values()
    offsets = crow[start : stop + 1]
    entries = slice(int(offsets[0]), int(offsets[-1]))
    return offsets - offsets[0], col[entries], values[entries]
