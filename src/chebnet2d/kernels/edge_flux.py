"""G^T ReLU(dropout(G x) K^T) as one autograd function, with G the gradient from nodes to edges, one block of edges at a time.

Autograd would save several arrays of E x H numbers per layer and run, and read them back from memory. Here no such array exists:
a block of some thousand edges is computed from the nodes, goes through all steps in the cache and is added to the nodes. Two bits
per entry are saved (whether dropout kept it, whether ReLU passed it); from them and x the backward pass rebuilds the block.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import StackFunction
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.random_streams import Stream, dropout_runs, keep_bytes, keep_scale, streams_of, write_mask

# Edges per block: what the second-level cache holds, but no fewer than there are nodes, as every block is added to all nodes.
_SMALLEST_BLOCK = 4096


@dataclass(frozen=True)
class EdgeBlocks:
    """G (E x N) in blocks of some thousand rows: ``parts`` holds pairs (rows of G, their transpose)."""

    edges: int
    parts: tuple[tuple[SparseOperator, SparseOperator], ...]

    @classmethod
    def of(cls, gradient: SparseOperator) -> "EdgeBlocks":
        """The blocks of ``gradient``, which is E x N."""
        edges, nodes = gradient.shape
        size = 8 * -(-max(nodes, _SMALLEST_BLOCK) // 8)  # the bits of every block but the last fill whole bytes
        matrix = gradient.to_scipy()
        rows = (matrix[start : start + size] for start in range(0, edges, size))
        blocks = [SparseOperator.from_scipy(part, dtype=gradient.dtype) for part in rows]
        return cls(edges, tuple((block, block.T) for block in blocks))


def edge_flux(blocks: EdgeBlocks, x: Tensor, weight: Tensor, p: Tensor) -> Tensor:
    """G^T ReLU(dropout(G x) weight^T): N x H on a CPU, for x: N x H, weight: H x H and the rate p, a 0-dimensional tensor.

    Differentiable once, in x and weight.
    """
    return _EdgeFlux.apply(blocks, x, weight, p)[0]


class _EdgeFlux(StackFunction):
    """x: N x H, weight: H x H, p: a number; or R x N x H, R x H x H and R numbers, run after run.

    The second result holds the bits: two rows of bytes, or two rows per run.
    """

    @staticmethod
    def forward(blocks: EdgeBlocks, x: Tensor, weight: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        out = torch.zeros_like(x, memory_format=torch.contiguous_format)
        bits = torch.empty((*x.shape[:-2], 2, -(-blocks.edges * x.shape[-1] // 8)), dtype=torch.uint8)
        for stream, run in zip(streams_of(p.numel()), dropout_runs(p, x, weight, out, bits), strict=True):
            _forward(blocks, stream, *run)
        return out, bits

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[EdgeBlocks, Tensor, Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.blocks = inputs[0]
        ctx.save_for_backward(*inputs[1:], output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, Tensor, None]:
        x, weight, p, bits = ctx.saved_tensors
        grad_x = torch.zeros_like(x, memory_format=torch.contiguous_format)
        grad_weight = torch.zeros_like(weight, memory_format=torch.contiguous_format)
        for run in dropout_runs(p, x, weight, grads[0], bits, grad_x, grad_weight):
            _backward(ctx.blocks, *run)
        return None, grad_x, grad_weight, None


def _forward(blocks: EdgeBlocks, stream: Stream, threshold: int, x: Tensor, weight: Tensor, out: Tensor, bits: Tensor) -> None:
    scaled = x * keep_scale(threshold)
    for (gather, scatter), part, (block, flux, mask) in _with_buffers(blocks, bits, x):
        kept = keep_bytes(stream, threshold, block.numel()) if threshold else np.ones(block.numel(), dtype=np.uint8)
        part[0] = np.packbits(kept)
        torch.addmm(block, gather.csr, scaled, beta=0, out=block)
        torch.mm(block.mul_(write_mask(kept, mask)), weight.T, out=flux)
        part[1] = np.packbits(flux.numpy().reshape(-1) > 0)
        torch.addmm(out, scatter.csr, flux.relu_(), out=out)


def _backward(
    blocks: EdgeBlocks, threshold: int, x: Tensor, weight: Tensor, grad: Tensor, bits: Tensor, grad_x: Tensor, grad_weight: Tensor
) -> None:
    scale = keep_scale(threshold)
    scaled = x * scale
    grad = grad.contiguous()
    for (gather, scatter), part, (block, of_flux, mask) in _with_buffers(blocks, bits, x):
        kept, passed = (np.unpackbits(row, count=block.numel()) for row in part)
        torch.addmm(of_flux, gather.csr, grad, beta=0, out=of_flux)
        of_flux.mul_(write_mask(passed, mask))
        torch.addmm(block, gather.csr, scaled, beta=0, out=block)
        grad_weight.addmm_(of_flux.T, block.mul_(write_mask(kept, mask)))
        torch.mm(of_flux, weight, out=block)
        torch.addmm(grad_x, scatter.csr, block.mul_(mask), out=grad_x)
    grad_x.mul_(scale)


def _with_buffers(blocks: EdgeBlocks, bits: Tensor, x: Tensor) -> Iterator[tuple[Any, Any, list[Tensor]]]:
    """Each block, its part of the bits, and three buffers for its edges.

    The buffers are the same for all blocks: newly allocated memory is not in the cache, and costs more than the work on it.
    """
    start, array = 0, bits.numpy()
    buffers = x.new_zeros(3, max((part[0].shape[0] for part in blocks.parts), default=0), x.shape[1])
    for part in blocks.parts:
        edges = part[0].shape[0]
        end = start + -(-edges * x.shape[1] // 8)
        yield part, array[:, start:end], [buffer[:edges] for buffer in buffers]
        start = end
