"""Layers for models: the 2-D convolution and its relatives, and dense layers that take sparse features and run in stacks."""

from chebnet2d.conv import ChebConv2D, ExactConv, SpectralConv
from chebnet2d.nn.batch_norm import BatchNorm
from chebnet2d.nn.dropout import Dropout
from chebnet2d.nn.features import Features, check_features
from chebnet2d.nn.linear import GlorotLinear, Linear
from chebnet2d.nn.mlp import MLP

__all__ = [
    "MLP",
    "BatchNorm",
    "ChebConv2D",
    "Dropout",
    "ExactConv",
    "Features",
    "GlorotLinear",
    "Linear",
    "SpectralConv",
    "check_features",
]
