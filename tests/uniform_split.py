"""The split that most tests use."""

import chebnet2d


def split(data, seed=0):
    return chebnet2d.data.split(data, "uniform", seed=seed)
