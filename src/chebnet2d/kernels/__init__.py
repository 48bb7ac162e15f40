"""Autograd functions written by hand, each with its rule for stacks of runs (``torch.func.vmap``).

Every one of them passes the suite in ``tests/kernels/kernel_suite.py``.
"""

from chebnet2d.kernels.chebyshev_filter import chebyshev_filter
from chebnet2d.kernels.diffused_product import diffused_product
from chebnet2d.kernels.dropped_product import dropped_product
from chebnet2d.kernels.edge_flux import EdgeBlocks, edge_flux
from chebnet2d.kernels.kept_walk import can_keep_walk, kept_walk_product
from chebnet2d.kernels.noisy_attention import noisy_attention
from chebnet2d.kernels.orthonormal_filter import orthonormal_filter
from chebnet2d.kernels.random_streams import Stream, keep_mask, random_streams, random_tensor
from chebnet2d.kernels.relu_dropout import relu_dropout
from chebnet2d.kernels.residual_layers import residual_layers
from chebnet2d.kernels.weighted_filter import weighted_filter

__all__ = [
    "EdgeBlocks",
    "Stream",
    "can_keep_walk",
    "chebyshev_filter",
    "diffused_product",
    "dropped_product",
    "edge_flux",
    "keep_mask",
    "kept_walk_product",
    "noisy_attention",
    "orthonormal_filter",
    "random_streams",
    "random_tensor",
    "relu_dropout",
    "residual_layers",
    "weighted_filter",
]
