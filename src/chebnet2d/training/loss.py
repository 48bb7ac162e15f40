"""What a model answers, checked; the loss per run and node; the weights by which a mean over a part of the nodes is a sum."""

from collections.abc import Sequence

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.models.node_classifier import logits_of as logits_of


def negative_log_likelihood(logits: Tensor, y: Tensor) -> Tensor:
    """-log p(y) of every run and node: R x N. Unlabelled nodes (y < 0) get a number too; weights of zero hide it."""
    # Classes before nodes: torch's softmax over a few adjacent numbers costs ten times one that runs along the nodes.
    by_class = logits.transpose(-1, -2).contiguous().log_softmax(dim=-2)
    target = y.clamp(min=0).expand(*logits.shape[:-2], 1, -1)
    return -by_class.gather(-2, target).squeeze(-2)


def node_weights(parts: Sequence[Tensor], num_nodes: int, like: Tensor) -> Tensor:
    """R x N: 1 / |part| on the nodes of each run's part, so that a weighted sum is the mean over the part."""
    weights = torch.zeros(len(parts), num_nodes, dtype=like.dtype, device=like.device)
    for row, part in zip(weights, parts, strict=True):
        row[part] = 1.0 / max(part.numel(), 1)
    return weights


def class_weights(y: Tensor, classes: int) -> Tensor:
    """N / (C' N_c) of each class among labels, C' of which occur: their mean over the nodes is 1. An absent class has 0."""
    counts = torch.bincount(y, minlength=classes).double()
    present = counts > 0
    weights = counts.sum() / (present.sum() * counts.clamp(min=1))
    return torch.where(present, weights, 0.0)


def check_logits(owner: str, logits: Tensor, y: Tensor) -> None:
    """``logits``: R x N x C, for N labels."""
    if logits.dim() != 3 or logits.shape[1] != y.numel():
        shape = tuple(logits.shape[1:])
        raise InputError(owner, "the model", f"{y.numel()} x C logits", got=f"shape {shape}", verb="return")
    if y.numel() and int(y.max()) >= logits.shape[2]:
        hint = "Build the model with out_channels = number of classes."
        raise InputError(owner, "labels", f"below the model's {logits.shape[2]} classes", got=str(int(y.max())), hint=hint)
