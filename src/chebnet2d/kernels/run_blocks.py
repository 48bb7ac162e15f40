"""How the runs of a stack share blocks of 16 columns, with block-diagonal maps.

Products with matrices of less than 16 columns cost several times what they compute. With C = 7, for instance, a block holds two
runs and two columns of zeros:

    terms   N x B x 16    [ run 0 | run 1 | 0 ] [ run 2 | run 3 | 0 ] ...
    maps    B x 16 x 16   diag(W of run 0, W of run 1, 0), diag(W of run 2, W of run 3, 0), ...
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chebnet2d.graph import SparseOperator

# The width of a block, and the costs by which padding up to it is decided: nanoseconds per entry of the operator and column
# in the sparse product, and per row and column in the products with the maps, narrow and in full blocks (measured on Cora).
BLOCK = 16
_SPARSE, _NARROW, _FULL = 0.15, 3.2, 0.6


class RunBlocks:
    """R runs of C -> C' channels in ``count`` blocks of columns, at most ``together`` runs in each."""

    def __init__(self, operator: SparseOperator, maps: Tensor, together: int = BLOCK) -> None:
        self.runs = maps.shape[1] if maps.dim() == 4 else 1
        self.inputs, self.outputs = maps.shape[-2:]
        self.together = min(self.runs, together, max(1, BLOCK // max(self.inputs, self.outputs)))
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
        whole = self.runs // self.together  # full blocks; the last one may have fewer runs
        flat = x.reshape(nodes, self.runs * channels)
        packed[:, :whole, :used] = flat[:, : whole * used].reshape(nodes, whole, used)
        if whole < self.count:
            packed[:, whole, : flat.shape[1] - whole * used] = flat[:, whole * used :]
        return packed

    def unpack(self, packed: Tensor, channels: int, like: tuple[int, ...]) -> Tensor:
        """N x B x w -> N x C or N x R x C."""
        flat = packed[:, :, : self.together * channels].flatten(1)[:, : self.runs * channels]
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
        """The diagonal blocks of (D + 1) x B x w x w', in the shape of ``like``."""
        if self.together == 1:
            return packed[:, :, : self.inputs, : self.outputs].reshape(like.shape)
        parts = [packed[:, :, rows, columns] for rows, columns in self._diagonal()]
        return torch.stack(parts, dim=2).flatten(1, 2)[:, : self.runs].reshape(like.shape)

    def _diagonal(self) -> list[tuple[slice, slice]]:
        return [
            (slice(j * self.inputs, (j + 1) * self.inputs), slice(j * self.outputs, (j + 1) * self.outputs))
            for j in range(self.together)
        ]


def each_for_itself(compute: Callable[..., tuple[Tensor, ...]], *tensors: Tensor) -> tuple[Tensor, ...]:
    """``compute(*tensors, together=...)`` so that a run that has diverged takes no other along.

    Zero times infinity is NaN, so that one run spoils all that share its block. Where something is not finite, the runs are
    computed one by one to see whose it is; then the others once more, with zeros in the place of those: what they would have got
    without. All tensors, given and returned, have the runs in their second dimension.
    """
    shared = compute(*tensors, together=BLOCK)
    if all(bool(one.sum().isfinite()) for one in shared):  # a sum is one pass; one that overflows only costs time
        return shared
    alone = compute(*tensors, together=1)
    well = torch.stack([one.transpose(0, 1).flatten(1).isfinite().all(dim=1) for one in alone]).all(dim=0)

    def of(tensor: Tensor) -> Tensor:
        return well.view(-1, *(1 for _ in tensor.shape[2:]))

    again = compute(*(one.where(of(one), 0.0) for one in tensors), together=BLOCK)
    return tuple(a.where(of(a), b) for a, b in zip(again, alone, strict=True))


def _padding_pays(used: int, entries: float) -> bool:
    """Whether a block of ``used`` columns is cheaper when padded to 16, on a graph with ``entries`` stored entries per row."""
    return used == BLOCK or (used < BLOCK and BLOCK * (_SPARSE * entries + _FULL) < used * (_SPARSE * entries + _NARROW))
