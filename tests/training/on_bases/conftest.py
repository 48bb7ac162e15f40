"""A graph, its split and its bases on disk."""

import pytest

import chebnet2d
from chebnet2d.bases import precompute


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=400, classes=3, features=10, homophily=0.85, signal=1.5, seed=0)


@pytest.fixture(scope="module")
def split(data):
    return chebnet2d.data.split(data, "uniform", seed=0)


@pytest.fixture(scope="module")
def stored(data, tmp_path_factory):
    """Bases for every method: by Chebyshev where the method's own are fixed."""
    root = tmp_path_factory.mktemp("bases")
    made = {kind: precompute(data, out=root / kind, degree=4, operator=kind, block=4) for kind in ("L_hat", "P~")}
    made["orthonormal"] = precompute(data, out=root / "o", degree=4, operator="P", basis="orthonormal")
    return made
