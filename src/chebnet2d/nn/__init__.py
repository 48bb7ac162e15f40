"""Layers to build with: the 2-D convolution and its relatives, and the dense parts that know sparse features and stacks."""

from chebnet2d.conv import ChebConv2D, ExactConv, SpectralConv
from chebnet2d.nn.dropout import Dropout, Features, MaskedFeatures, pattern_of
from chebnet2d.nn.mlp import MLP, BatchNorm, GlorotLinear, Linear, check_features

__all__ = [
    "MLP",
    "BatchNorm",
    "ChebConv2D",
    "Dropout",
    "ExactConv",
    "Features",
    "GlorotLinear",
    "Linear",
    "MaskedFeatures",
    "SpectralConv",
    "check_features",
    "pattern_of",
]
