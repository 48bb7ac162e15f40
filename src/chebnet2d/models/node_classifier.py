"""What every model here is: a module from (x, graph) to logits, with predictions in the user's terms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError
from chebnet2d.graph import GraphData, SparseOperator, edge_weight_of
from chebnet2d.models.configured import Configured
from chebnet2d.models.info import MethodInfo


@dataclass(frozen=True)
class Prediction:
    """``labels``: N class indices. ``probabilities``: N x C, rows add up to 1."""

    labels: Tensor
    probabilities: Tensor

    @classmethod
    def of_logits(cls, parts: Iterable[Tensor]) -> "Prediction":
        probabilities = torch.cat([logits.softmax(dim=1) for logits in parts])
        return cls(probabilities.argmax(dim=1), probabilities)


class NodeClassifier(Configured):
    """``forward(x, edge_index, edge_weight=None)`` gives N x C logits.

    ``info``: formula and citation. ``groups``, ``varies_in_stack``, ``config``: see ``Configured``.
    ``on_validation`` names the groups that ``fit`` fits on the loss of the validation nodes, in a step of their own after the
    others. Published code that does so has seen what it is selected by: none does here unless its switch is set.
    ``per_node`` names the parameters that have a row for each node, in methods whose constructor asks for ``num_nodes``.
    ``batches`` names the mini batches of nodes that the method can be trained on (``training.node_batches``), the usual one
    first; none where every node needs all others.
    ``search_space``: values to search over besides the usual ones, {"model": {argument: values}, "settings": {name: values}}.
    """

    info: ClassVar[MethodInfo]
    on_validation: frozenset[str] = frozenset()
    per_node: ClassVar[tuple[str, ...]] = ()
    batches: ClassVar[tuple[str, ...]] = ("induced", "induced-train")
    search_space: ClassVar[Mapping[str, Mapping[str, Sequence[Any]]]] = {}

    def predict(self, data: GraphData) -> Prediction:
        """Labels and probabilities for every node of a torch_geometric ``Data`` (x, edge_index, edge_weight)."""
        with evaluating(self):
            return Prediction.of_logits([self(features_of(data), data.edge_index, edge_weight_of(data))])


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards the model is in the mode that it was in."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


def features_of(data: GraphData, sparse_below: float = 0.15) -> Tensor | SparseOperator:
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
