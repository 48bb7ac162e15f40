"""What the lower packages export."""

import importlib

import pytest

LAYERS = {"ChebConv2D", "SpectralConv", "ExactConv", "Linear", "GlorotLinear", "MLP", "BatchNorm", "Dropout"}


def test_nn_exports_layers_and_the_type_of_their_input():
    assert set(importlib.import_module("chebnet2d.nn").__all__) == LAYERS | {"Features", "check_features"}


@pytest.mark.parametrize("package", ["kernels", "nn", "conv", "graph", "polynomials"])
def test_public_names_exist_and_have_docstrings(package):
    module = importlib.import_module(f"chebnet2d.{package}")
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing) and getattr(thing, "__module__", "").startswith("chebnet2d"):
            assert thing.__doc__, name
