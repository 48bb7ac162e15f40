"""The graph that most tests train on."""

import pytest

import chebnet2d


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=120, classes=3, features=20, homophily=0.8, seed=0)
