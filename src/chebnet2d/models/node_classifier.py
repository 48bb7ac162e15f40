"""What every model here is: a module from (x, graph) to logits, with predictions in the user's terms."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator
from chebnet2d.models.configured import Configured
from chebnet2d.models.info import MethodInfo


@dataclass(frozen=True)
class Prediction:
    """``labels``: N class indices. ``probabilities``: N x C, rows add up to 1."""

    labels: Tensor
    probabilities: Tensor


class NodeClassifier(Configured):
    """``forward(x, edge_index, edge_weight=None)`` gives N x C logits.

    ``groups`` says which parameters have an optimiser group of their own: group name -> prefixes of parameter names. All others
    are in the group "weights". The trainer reads it; it is data, not code. ``info``: formula and citation.
    ``on_validation`` names the groups that ``fit`` fits on the loss of the validation nodes, in a step of their own after the
    others. Published code that does so has seen what it is selected by: none does here unless its switch is set.
    ``per_node`` names the parameters that have a row for each node, in methods whose constructor asks for ``num_nodes``.
    ``batches`` names the mini batches of nodes that the method can be trained on (``training.node_batches``), the usual one
    first; none where every node needs all others.
    """

    info: ClassVar[MethodInfo]
    groups: ClassVar[dict[str, tuple[str, ...]]] = {}
    on_validation: frozenset[str] = frozenset()
    per_node: ClassVar[tuple[str, ...]] = ()
    batches: ClassVar[tuple[str, ...]] = ("induced", "induced-train")

    def group_of(self, parameter_name: str) -> str:
        for group, prefixes in self.groups.items():
            if parameter_name.startswith(prefixes):
                return group
        return "weights"

    @torch.no_grad()
    def predict(self, data: Any) -> Prediction:
        """Labels and probabilities for every node of a torch_geometric ``Data`` (x, edge_index, edge_weight)."""
        training = self.training
        self.eval()
        try:
            logits = self(features_of(data), data.edge_index, data.get("edge_weight"))
        finally:
            self.train(training)
        probabilities = logits.softmax(dim=1)
        return Prediction(probabilities.argmax(dim=1), probabilities)


def features_of(data: Any, sparse_below: float = 0.15) -> Tensor | SparseOperator:
    """x of a ``Data``, as a ``SparseOperator`` where that is cheaper: below the given density, or if it is sparse already."""
    x = getattr(data, "x", None)
    if x is None:
        raise InputError("data", "x", "an N x F tensor of features", got="None")
    if isinstance(x, SparseOperator):
        return x
    if x.layout != torch.strided:
        return SparseOperator.from_torch(x)
    if x.dim() == 2 and x.numel() and float((x != 0).float().mean()) < sparse_below:
        return SparseOperator.from_dense(x)
    return x
