"""Small models and splits for the tests of training."""

import copy

import chebnet2d


def doubled(data):
    data = copy.copy(data)
    data.x = data.x.double()
    return data


def model(data, **options):
    return chebnet2d.ChebNet2D(data.num_features, 3, **{"hidden_channels": 8, "degree": 4, **options})
