"""A graph and its split."""

import pytest

import chebnet2d
from batch_examples import NODES


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=NODES, classes=3, features=8, homophily=0.85, degree=12, seed=4)


@pytest.fixture(scope="module")
def split(data):
    return chebnet2d.data.split(data, "uniform", seed=0)
