"""What a feature does to a logit when it is shuffled over the nodes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from chebnet2d.explanations.explanation import Explanation
from chebnet2d.graph import SparseOperator
from chebnet2d.models import NodeClassifier
from chebnet2d.models.node_classifier import evaluating, logits_of

TIMES = 3


def permuted(
    model: NodeClassifier, data: Any, x: Tensor | SparseOperator, found: Sequence[Explanation], top: int, seed: int
) -> list[Explanation]:
    """The explanations with the fall of the logit for the ``top`` features of each, mean of three shuffles.

    A pass over the graph serves all nodes, so each feature that is near the top of any node is shuffled once for all.
    """
    dense = x.to_dense() if isinstance(x, SparseOperator) else x
    wanted = [_top(explanation, top) for explanation in found]
    generator = torch.Generator().manual_seed(seed)
    falls: dict[int, list[float]] = {}
    for feature in sorted(set().union(*wanted)):
        total = torch.zeros(len(found), dtype=torch.float64)
        for _ in range(TIMES):
            shuffled = dense.clone()
            shuffled[:, feature] = dense[torch.randperm(len(dense), generator=generator), feature]
            with evaluating(model):
                logits = logits_of(model(shuffled, data.edge_index, data.get("edge_weight")))
            total += torch.stack([e.logit - logits[e.index, e.class_index] for e in found])
        falls[feature] = (total / TIMES).tolist()
    return [
        replace(explanation, permuted={explanation.feature_name(i): falls[i][b] for i in wanted[b]})
        for b, explanation in enumerate(found)
    ]


def _top(explanation: Explanation, top: int) -> list[int]:
    assert explanation.features is not None
    return explanation.features.abs().argsort(descending=True, stable=True)[:top].tolist()
