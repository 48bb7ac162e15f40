"""Metrics over a stack: logits are R x N x C, and each run looks at its own nodes."""

import numpy as np
import scipy.stats
import torch
from torch import Tensor


def negative_log_likelihood(logits: Tensor, y: Tensor) -> Tensor:
    """-log p(y) of every run and node: R x N. Unlabelled nodes (y < 0) get a number too; weights of zero hide it."""
    # Classes before nodes: torch's softmax over a few adjacent numbers costs ten times one that runs along the nodes.
    by_class = logits.transpose(-1, -2).contiguous().log_softmax(dim=-2)
    target = y.clamp(min=0).expand(*logits.shape[:-2], 1, -1)
    return -by_class.gather(-2, target).squeeze(-2)


def weighted_accuracy(logits: Tensor, y: Tensor, weights: Tensor) -> Tensor:
    """Share of right answers under ``weights`` (R x N, rows add up to 1): R numbers."""
    return ((logits.argmax(dim=-1) == y).to(weights.dtype) * weights).sum(dim=-1)


def roc_auc(logits: Tensor, y: Tensor, nodes: Tensor) -> float:
    """Area under the ROC curve of two classes on some nodes of one run (N x 2 logits): ranks, ties count half.

    NaN where one of the classes is absent: there is no curve then.
    """
    score = (logits[nodes, 1] - logits[nodes, 0]).double().cpu().numpy()
    positive = (y[nodes] == 1).cpu().numpy()
    pairs = int(positive.sum()) * int((~positive).sum())
    if pairs == 0:
        return float("nan")
    ranks = scipy.stats.rankdata(score)
    below = ranks[positive].sum() - positive.sum() * (positive.sum() + 1) / 2
    return float(np.float64(below) / pairs)


def node_weights(parts: list[Tensor], num_nodes: int, like: Tensor) -> Tensor:
    """R x N: 1 / |part| on the nodes of each run's part, so that a weighted sum is the mean over the part."""
    weights = torch.zeros(len(parts), num_nodes, dtype=like.dtype, device=like.device)
    for row, part in zip(weights, parts, strict=True):
        row[part] = 1.0 / max(part.numel(), 1)
    return weights
