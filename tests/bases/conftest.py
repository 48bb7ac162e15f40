"""The graph that bases are computed of."""

import pytest

import chebnet2d


@pytest.fixture(scope="module")
def data():
    made = chebnet2d.data.load("csbm", nodes=300, classes=3, features=7, degree=6, seed=1)
    made.y[::10] = -1
    return made
