"""The registry of models."""

import pytest

import chebnet2d
from chebnet2d.models.registry import MODELS, register


def test_registry_refuses_duplicates():
    assert MODELS["chebnet2d"] is chebnet2d.ChebNet2D
    with pytest.raises(ValueError, match="name must be new, got 'chebnet2d'"):
        register("chebnet2d")(chebnet2d.ChebNet2D)
