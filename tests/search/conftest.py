"""The graph that the searches are on."""

import pytest

import chebnet2d


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=90, classes=3, features=8, homophily=0.6, seed=0)
