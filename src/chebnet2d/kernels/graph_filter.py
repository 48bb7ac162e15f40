"""The Chebyshev filter of a graph as one operation of torch, so that ``torch.compile`` and ``torch.export`` see through it.

The operator of the graph is made inside, where real tensors are, and is remembered as in eager mode. Weights are constants here.
"""

from typing import Any

import torch
from torch import Tensor

from chebnet2d.graph import operator_of
from chebnet2d.kernels.chebyshev_filter import chebyshev_filter, chebyshev_gradients


@torch.library.custom_op("chebnet2d::graph_filter", mutates_args=())
def graph_filter(
    x: Tensor, maps: Tensor, edge_index: Tensor, edge_weight: Tensor | None, kind: str, directed: str, owner: str
) -> Tensor:
    """``chebyshev_filter`` of the operator ``kind`` of a graph (see ``operator_of``)."""
    operator = operator_of(edge_index, edge_weight, x, kind=kind, directed=directed, owner=owner)
    return chebyshev_filter(operator, x, maps)


@torch.library.custom_op("chebnet2d::graph_filter_gradients", mutates_args=())
def graph_filter_gradients(
    grad: Tensor, x: Tensor, maps: Tensor, edge_index: Tensor, edge_weight: Tensor | None, kind: str, directed: str, owner: str
) -> tuple[Tensor, Tensor]:
    """The gradients of x and maps."""
    operator = operator_of(edge_index, edge_weight, x, kind=kind, directed=directed, owner=owner)
    of_x, of_maps = chebyshev_gradients(operator, grad, x, maps)
    return of_x, of_maps


@graph_filter.register_fake
def _shape(x: Tensor, maps: Tensor, *_: Any) -> Tensor:
    return x.new_empty(x.shape[0], maps.shape[2] if maps.dim() == 3 else x.shape[1])


@graph_filter_gradients.register_fake
def _shapes(_grad: Tensor, x: Tensor, maps: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(maps)


def _save(ctx: Any, inputs: Any, output: Tensor) -> None:  # noqa: ARG001
    *tensors, ctx.kind, ctx.directed, ctx.owner = inputs
    ctx.save_for_backward(*tensors)


def _backward(ctx: Any, grad: Tensor) -> Any:
    gradients = graph_filter_gradients(grad, *ctx.saved_tensors, ctx.kind, ctx.directed, ctx.owner)
    return *gradients, *[None] * 5


graph_filter.register_autograd(_backward, setup_context=_save)
