"""The fused operation: Z = sum_d T_d(L_hat) F W_d as one autograd function.

Why by hand. Autograd over the recurrence keeps D + 1 matrices of size N x C and walks back through them. But L_hat is
symmetric, so T_d(L_hat) is its own transpose, and with G = dLoss/dZ

    dLoss/dF   = sum_d T_d(L_hat) G W_d^T          dLoss/dW_d = F^T (T_d(L_hat) G)

are the same recurrence run on G. Only F and W need saving, the graph is read D times each way, and memory does not grow with D.

A stack of R runs (``torch.func.vmap``) is folded into columns: the recurrence runs once on N x (R C). The C x C' maps are small,
and products with matrices of less than 16 columns cost several times what they compute. So runs share blocks of 16 columns, with
block-diagonal maps; with C = 7, for instance, two runs and two columns of zeros:

    terms   N x B x 16    [ run 0 | run 1 | 0 ] [ run 2 | run 3 | 0 ] ...
    maps    B x 16 x 16   diag(W of run 0, W of run 1, 0), diag(W of run 2, W of run 3, 0), ...
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._stacks import with_runs
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.column_blocks import column_blocks

# The width of a block, and the costs by which padding up to it is decided: nanoseconds for one entry of the operator and one
# column in the sparse product, and for one row and one column in the products with the maps, narrow and in full blocks (measured
# on Cora).
BLOCK = 16
_SPARSE, _NARROW, _FULL = 0.15, 3.2, 0.6


def chebyshev_filter(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
    """sum_d T_d(operator) x maps[d].

    Args:
        operator: symmetric N x N with its spectrum in [-1, 1].
        x: N x C.
        maps: (D + 1) x C x C' for a map between channels at every degree, or (D + 1) x C for one number a channel
            (C' = C, diagonal maps), or (D + 1) x 1 for one number in all.
    """
    if not operator.symmetric:
        raise InputError("chebyshev_filter", "operator", "symmetric: the backward pass relies on it")
    function = _Full if maps.dim() == 3 else _Diagonal
    return cast(Tensor, function.apply(operator, x, maps))


def chebyshev_terms(operator: SparseOperator, x: Tensor, degree: int) -> Iterator[Tensor]:
    """T_0(operator) x, ..., T_degree(operator) x, without autograd. A term is to be used before the next is asked for:

    T_{d+1} = 2 L T_d - T_{d-1} is written over T_{d-1}, so that two buffers serve all degrees and no memory is handed out anew.
    """
    yield x
    if degree == 0:
        return
    before, current = x, operator.csr @ x
    yield current
    for d in range(2, degree + 1):
        following = operator.step(current, before, alpha=2.0, beta=-1.0, out=before if d > 2 else None)  # x stays
        before, current = current, following
        yield current


class _Full(torch.autograd.Function):
    """Unstacked: x is N x C and W is (D + 1) x C x C'. Stacked: x is N x R x C and W is (D + 1) x R x C x C'."""

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
        blocks = _Blocks(operator, maps)
        packed, packed_maps = blocks.pack(x, blocks.inputs), blocks.pack_maps(maps)
        terms = chebyshev_terms(operator, packed.flatten(1), maps.shape[0] - 1)
        z = packed.new_zeros(packed.shape[0], blocks.count, packed_maps.shape[-1])
        for term, term_maps in zip(terms, packed_maps, strict=True):
            _add_product(z, term.view_as(packed), term_maps)
        return blocks.unpack(z, blocks.outputs, x.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, x, maps = inputs
        ctx.save_for_backward(x, maps)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        x, maps = ctx.saved_tensors
        grad_x, grad_maps = _FullBackward.apply(ctx.operator, grads[0], x, maps)
        return None, grad_x, grad_maps

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, x: Tensor, maps: Tensor) -> tuple[Tensor, int]:
        return _Full.apply(operator, *with_runs(info, in_dims[1:], x, maps, at=1)), 1


class _FullBackward(torch.autograd.Function):
    """The gradient as a function of its own, so that it can be differentiated again (gradgradcheck holds)."""

    @staticmethod
    def forward(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, Tensor]:
        blocks = _Blocks(operator, maps)
        packed, packed_x, packed_maps = blocks.pack(grad, blocks.outputs), blocks.pack(x, blocks.inputs), blocks.pack_maps(maps)
        grad_x = torch.zeros_like(packed_x)
        grad_maps = torch.empty_like(packed_maps)
        x_transposed = packed_x.permute(1, 2, 0)
        terms = chebyshev_terms(operator, packed.flatten(1), maps.shape[0] - 1)
        for term, term_maps, term_grad in zip(terms, packed_maps, grad_maps, strict=True):
            block = term.view_as(packed)
            _add_product(grad_x, block, term_maps.transpose(1, 2))
            torch.bmm(x_transposed, block.transpose(0, 1), out=term_grad)
        return blocks.unpack(grad_x, blocks.inputs, x.shape), blocks.unpack_maps(grad_maps, maps)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operator, grad, x, maps = inputs
        ctx.save_for_backward(grad, x, maps)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        # grad_x = sum_d T_d G W_d^T and grad_W_d = F^T T_d G are bilinear: each derivative is one of the two forms again.
        grad, x, maps = ctx.saved_tensors
        of_x, of_maps = grads
        operator = ctx.operator
        product: Any = _Full.apply
        to_grad = product(operator, of_x, maps) + product(operator, x, of_maps)
        to_x = product(operator, grad, of_maps.transpose(-1, -2))
        _, to_maps = _FullBackward.apply(operator, grad, of_x, maps)
        return None, to_grad, to_x, to_maps

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> Any:
        grad, x, maps = with_runs(info, in_dims[1:], grad, x, maps, at=1)
        return _FullBackward.apply(operator, grad, x, maps), (1, 1)


def _add_product(z: Tensor, block: Tensor, maps: Tensor) -> None:
    """z += block @ maps, for each of the B blocks: N x B x w' += N x B x w times B x w x w'."""
    if z.shape[1] == 1:
        z[:, 0].addmm_(block[:, 0], maps[0])
    else:
        z.transpose(0, 1).baddbmm_(block.transpose(0, 1), maps)


class _Blocks:
    """How R runs of C -> C' channels share blocks of columns: ``together`` runs in each of ``count`` blocks."""

    def __init__(self, operator: SparseOperator, maps: Tensor) -> None:
        self.runs = maps.shape[1] if maps.dim() == 4 else 1
        self.inputs, self.outputs = maps.shape[-2:]
        self.together = min(self.runs, max(1, BLOCK // max(self.inputs, self.outputs)))
        self.count = -(-self.runs // self.together)
        entries = operator.nnz / max(operator.shape[0], 1)
        self.pads = all(_padding_pays(self.together * channels, entries) for channels in (self.inputs, self.outputs))

    def width(self, channels: int) -> int:
        return BLOCK if self.pads else self.together * channels

    def pack(self, x: Tensor, channels: int) -> Tensor:
        """N x C or N x R x C -> N x B x w."""
        nodes, used = x.shape[0], self.together * channels
        width = self.width(channels)
        if width == used and self.runs == self.count * self.together:
            return x.reshape(nodes, self.count, width)
        packed = x.new_zeros(nodes, self.count, width)
        whole = self.runs // self.together  # blocks without a gap; the last one may have fewer runs
        flat = x.reshape(nodes, self.runs * channels)
        packed[:, :whole, :used] = flat[:, : whole * used].reshape(nodes, whole, used)
        if whole < self.count:
            packed[:, whole, : flat.shape[1] - whole * used] = flat[:, whole * used :]
        return packed

    def unpack(self, packed: Tensor, channels: int, like: tuple[int, ...]) -> Tensor:
        """N x B x w -> N x C or N x R x C."""
        flat = packed[:, :, : self.together * channels].reshape(packed.shape[0], -1)[:, : self.runs * channels]
        return flat.reshape(*like[:-1], channels)

    def pack_maps(self, maps: Tensor) -> Tensor:
        """(D + 1) x C x C' or (D + 1) x R x C x C' -> (D + 1) x B x w x w', block-diagonal."""
        maps = maps.reshape(maps.shape[0], self.runs, self.inputs, self.outputs)
        shape = (maps.shape[0], self.count, self.width(self.inputs), self.width(self.outputs))
        if self.together == 1 and shape == maps.shape:
            return maps
        packed = maps.new_zeros(shape)
        for j, (rows, columns) in enumerate(self._diagonal()):
            part = maps[:, j :: self.together]
            packed[:, : part.shape[1], rows, columns] = part
        return packed

    def unpack_maps(self, packed: Tensor, like: Tensor) -> Tensor:
        if self.together == 1:
            return packed[:, :, : self.inputs, : self.outputs].reshape(like.shape)
        parts = [packed[:, :, rows, columns] for rows, columns in self._diagonal()]
        return torch.stack(parts, dim=2).flatten(1, 2)[:, : self.runs].reshape(like.shape)

    def _diagonal(self) -> list[tuple[slice, slice]]:
        return [
            (slice(j * self.inputs, (j + 1) * self.inputs), slice(j * self.outputs, (j + 1) * self.outputs))
            for j in range(self.together)
        ]


def _padding_pays(used: int, entries: float) -> bool:
    """Whether a block of ``used`` columns is cheaper with zeros up to 16, on a graph with ``entries`` stored entries a row."""
    return used == BLOCK or (used < BLOCK and BLOCK * (_SPARSE * entries + _FULL) < used * (_SPARSE * entries + _NARROW))


class _Diagonal(torch.autograd.Function):
    """One number a channel: x is N x C and theta (D + 1) x C, or N x R x C and (D + 1) x R x C. theta may be 1 wide.

    Columns do not know of each other: a block of them goes through all degrees while it is in the cache.
    """

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, theta: Tensor) -> Tensor:
        out = torch.empty_like(x)
        signal, weights, result = _runs_first(x, theta, out)
        for block in column_blocks(signal.shape):
            numbers = block.read_rows(weights)
            terms = chebyshev_terms(operator, block.read(signal), theta.shape[0] - 1)
            z = next(terms) * numbers[0]
            for term, number in zip(terms, numbers[1:], strict=True):
                z.addcmul_(term, number)
            block.write(z, result)
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, x, theta = inputs
        ctx.save_for_backward(x, theta)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, theta = ctx.saved_tensors
        grad_x, grad_theta = _DiagonalBackward.apply(ctx.operator, grads[0], x, theta)
        return None, grad_x, grad_theta

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, x: Tensor, theta: Tensor) -> tuple[Tensor, int]:
        return _Diagonal.apply(operator, *with_runs(info, in_dims[1:], x, theta, at=1)), 1


class _DiagonalBackward(torch.autograd.Function):
    @staticmethod
    def forward(operator: SparseOperator, grad: Tensor, x: Tensor, theta: Tensor) -> tuple[Tensor, Tensor]:
        out, sums = torch.empty_like(grad), grad.new_empty(theta.shape[0], *grad.shape[1:])
        signal, weights, result = _runs_first(grad, theta, out)
        original, _, _ = _runs_first(x, theta, x)
        of_theta = sums if sums.dim() == 3 else sums.unsqueeze(1)
        for block in column_blocks(signal.shape):
            numbers, start, own = block.read_rows(weights), block.read(original), block.read(signal)
            grad_x, work = torch.zeros_like(own), torch.empty_like(own)
            found = torch.empty_like(numbers)
            for d, term in enumerate(chebyshev_terms(operator, own, theta.shape[0] - 1)):
                grad_x.addcmul_(term, numbers[d])
                torch.sum(torch.mul(term, start, out=work), dim=0, out=found[d])
            block.write(grad_x, result)
            block.write_rows(found, of_theta)
        return out, sums.sum_to_size(theta.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operator, grad, x, theta = inputs
        ctx.save_for_backward(grad, x, theta)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        grad, x, theta = ctx.saved_tensors
        of_x, of_theta = grads
        operator = ctx.operator
        product: Any = _Diagonal.apply
        to_grad = product(operator, of_x, theta) + product(operator, x, of_theta)
        to_x = product(operator, grad, of_theta)
        _, to_theta = _DiagonalBackward.apply(operator, grad, of_x, theta)
        return None, to_grad, to_x, to_theta

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, grad: Tensor, x: Tensor, theta: Tensor) -> Any:
        grad, x, theta = with_runs(info, in_dims[1:], grad, x, theta, at=1)
        return _DiagonalBackward.apply(operator, grad, x, theta), (1, 1)


def _runs_first(x: Tensor, theta: Tensor, out: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x and out as R x N x C, and theta as (D + 1) x R x C, whether or not there is a stack."""
    if x.dim() == 2:
        return x.unsqueeze(0), theta.unsqueeze(1).expand(-1, 1, x.shape[1]), out.unsqueeze(0)
    return x.transpose(0, 1), theta.expand(-1, *x.shape[1:]), out.transpose(0, 1)
