"""A stack of signals, cut into blocks of columns that stay in the cache while a whole recurrence runs over them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torch import Tensor

# Numbers in one N x w block: products with the graph and passes over the block are several times faster in the cache.
_NUMBERS = 2**18
_NARROWEST = 16


class ColumnBlock(NamedTuple):
    """Some runs and some channels of a stack, w columns in all: ``read`` copies them into one matrix, ``write`` copies back."""

    runs: slice
    channels: slice

    def read(self, x: Tensor) -> Tensor:
        """R x N x C -> N x w."""
        return x[self.runs, :, self.channels].transpose(0, 1).flatten(1).contiguous()

    def write(self, block: Tensor, out: Tensor) -> None:
        """N x w into its place in R x N x C."""
        part = out[self.runs, :, self.channels].transpose(0, 1)
        part.copy_(block.view(part.shape))

    def read_rows(self, theta: Tensor) -> Tensor:
        """K x R x C -> K x w."""
        return theta[:, self.runs, self.channels].flatten(1)

    def write_rows(self, block: Tensor, out: Tensor) -> None:
        """K x w into its place in K x R x C."""
        part = out[:, self.runs, self.channels]
        part.copy_(block.view(part.shape))


def column_blocks(shape: Sequence[int]) -> Iterator[ColumnBlock]:
    """The blocks of a stack R x N x C: some channels of one run, or all channels of several runs."""
    runs, nodes, channels = shape
    width = _NARROWEST
    while 2 * width * max(nodes, 1) <= _NUMBERS:
        width *= 2
    together = max(1, width // channels)
    for run in range(0, runs, together):
        for channel in range(0, channels, width):
            yield ColumnBlock(slice(run, run + together), slice(channel, channel + width))
