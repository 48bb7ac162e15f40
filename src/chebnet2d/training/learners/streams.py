"""A random stream per run, and per shard of its batches."""

import numpy as np

from chebnet2d.kernels.random_streams import Stream


def shard_streams(seed: int, shards: int) -> list[Stream]:
    """A random stream for each shard; that of the first is the stream of the run."""
    return [Stream(np.random.SeedSequence(seed, spawn_key=(1,) if s == 0 else (1, s))) for s in range(shards)]
