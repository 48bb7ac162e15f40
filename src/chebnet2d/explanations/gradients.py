"""Gradient times input: through the MLP of a linear part, or through a whole model that has none."""

from typing import Any

import torch
from torch import Tensor

from chebnet2d.graph import SparseOperator
from chebnet2d.models import Decoupled, NodeClassifier
from chebnet2d.models.node_classifier import logits_of

_NUMBERS = 4_000_000  # of X that are dense at a time


def feature_shares(model: Decoupled, x: Tensor | SparseOperator, rows: Tensor) -> Tensor:
    """B x F: gradient times input, summed over nodes, for the gradients ``rows`` of the signal, B x N x C."""
    found = rows.new_zeros(rows.shape[0], x.shape[1])
    touched = (rows != 0).any(2).any(0).nonzero().squeeze(1)
    for part in touched.split(max(1, _NUMBERS // max(1, x.shape[1]))):
        inputs = _dense(x, part).requires_grad_()
        signal = model.signal(inputs)
        for b, row in enumerate(rows[:, part]):
            (gradient,) = torch.autograd.grad(signal, inputs, row, retain_graph=b + 1 < rows.shape[0])
            found[b] += (gradient * inputs.detach()).sum(0)
    return found


def gradient_shares(model: NodeClassifier, data: Any, x: Tensor | SparseOperator, node: int, label: int) -> tuple[Tensor, Tensor]:
    """N shares of nodes and F of features, by the gradient of one logit in X."""
    inputs = (x.to_dense() if isinstance(x, SparseOperator) else x).clone().requires_grad_()
    logits = logits_of(model(inputs, data.edge_index, data.get("edge_weight")))
    (gradient,) = torch.autograd.grad(logits[node, label], inputs, allow_unused=True)
    product = torch.zeros_like(inputs) if gradient is None else gradient * inputs.detach()
    return product.sum(1).detach(), product.sum(0).detach()


def _dense(x: Tensor | SparseOperator, rows: Tensor) -> Tensor:
    if isinstance(x, SparseOperator):
        return torch.from_numpy(x.to_scipy()[rows.numpy()].toarray()).to(x.dtype)
    return x[rows].clone()
