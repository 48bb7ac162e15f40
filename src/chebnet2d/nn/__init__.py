"""Layers to build with: the 2-D convolution and its relatives, and the dense parts that know sparse features and stacks."""

from chebnet2d.conv import ChebConv2D, ExactConv, SpectralConv
from chebnet2d.nn.configured import Configured
from chebnet2d.nn.device import checked_device
from chebnet2d.nn.dropout import Dropout, Features, MaskedFeatures, pattern_of
from chebnet2d.nn.edge_flux import EdgeBlocks, edge_flux
from chebnet2d.nn.mlp import MLP, BatchNorm, GlorotLinear, Linear, check_features
from chebnet2d.nn.noisy_attention import noisy_attention
from chebnet2d.nn.project_first import project_first
from chebnet2d.nn.random_streams import Stream, keep_mask, random_streams, random_tensor
from chebnet2d.nn.residual_layers import residual_layers

__all__ = [
    "MLP",
    "BatchNorm",
    "ChebConv2D",
    "Configured",
    "Dropout",
    "EdgeBlocks",
    "ExactConv",
    "Features",
    "GlorotLinear",
    "Linear",
    "MaskedFeatures",
    "SpectralConv",
    "Stream",
    "check_features",
    "checked_device",
    "edge_flux",
    "keep_mask",
    "noisy_attention",
    "pattern_of",
    "project_first",
    "random_streams",
    "random_tensor",
    "residual_layers",
]
