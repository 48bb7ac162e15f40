"""What every model here is: a module from (x, graph) to logits, with predictions in the user's terms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError
from chebnet2d.graph import GraphData, SparseOperator, edge_weight_of
from chebnet2d.models.configured import Configured
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.label_sets import LabelSets
from chebnet2d.models.seen_nodes import SeenNodes
from chebnet2d.preparation import Preparation


@dataclass(frozen=True)
class Prediction:
    """``labels``: N class indices. ``probabilities``: N x C, rows add up to 1."""

    labels: Tensor
    probabilities: Tensor

    @classmethod
    def of_answers(cls, parts: Iterable[Any], threshold: float | None = None, temperature: float | None = None) -> "Prediction":
        """From what a model answered to parts of the nodes.

        ``threshold``: of two classes, the probability from which the label is the second; None: the larger one.
        ``temperature``: logits are divided by it; None for 1. Without a threshold it changes no label.
        """
        logits = torch.cat([logits_of(answer) for answer in parts])
        probabilities = (logits if temperature is None else logits / temperature).softmax(dim=1)
        if threshold is None:
            return cls(logits.argmax(dim=1), probabilities)
        return cls((probabilities[:, 1] >= threshold).long(), probabilities)


class NodeClassifier(Configured):
    """``forward(x, edge_index, edge_weight=None)`` gives N x C logits, or (logits, penalty): a number that is added to the loss.

    ``info``: formula and citation. ``groups``, ``varies_in_stack``, ``config``: see ``Configured``.
    ``on_validation`` names the groups that ``fit`` fits on the loss of the validation nodes, in a step of their own after the
    others. Published code that does so has seen what it is selected by: none does here unless its switch is set.
    ``per_node`` names the parameters and buffers that have a row for each node of the graph they were trained on, and
    ``known_labels`` those among them that hold nothing but the labels of training nodes: on another graph these are found by the
    ids of the nodes.
    ``batches`` names the mini batches of nodes that the method can be trained on (``training.node_batches``), the usual one
    first; none where every node needs all others.
    ``trained_by``: "gradient", or "estimator" for methods that are fitted otherwise (``models.estimators``).
    ``search_space``: values to search over besides the usual ones, {"model": {argument: values}, "settings": {name: values}}.
    """

    info: ClassVar[MethodInfo]
    seen: SeenNodes | None = None
    """The nodes of the graph that it was trained on, with their parts."""
    threshold: float | None = None
    """Of two classes: the probability from which a node gets the second label, where it is not one half."""
    temperature: float | None = None
    """Logits are divided by it before they become probabilities; None for 1."""
    label_sets: LabelSets | None = None
    """From nodes whose labels it was not trained on: which labels belong to a set with a given coverage."""
    preparation: Preparation | None = None
    """How graphs are prepared for it; ``fit`` takes it from the graph, ``save`` and ``load`` keep it, ``predict`` applies it."""
    on_validation: frozenset[str] = frozenset()
    per_node: ClassVar[tuple[str, ...]] = ()
    known_labels: ClassVar[tuple[str, ...]] = ()
    batches: ClassVar[tuple[str, ...]] = ("induced", "induced-train")
    trained_by: ClassVar[str] = "gradient"
    search_space: ClassVar[Mapping[str, Mapping[str, Sequence[Any]]]] = {}

    def take_labels(self, labels: Tensor) -> None:
        """``fit`` calls it before training with N labels, -1 for all but the training nodes: for methods that see neighbours'."""

    def predict(self, data: GraphData) -> Prediction:
        """Labels and probabilities for every node of a torch_geometric ``Data`` (x, edge_index, edge_weight).

        The graph is prepared as the one that the model was trained on, unless it is prepared so already.
        """
        data = data if self.preparation is None else self.preparation.apply(data)
        self._check_nodes(data)
        with evaluating(self), self._labels_by_id(data):
            answer = self(features_of(data), data.edge_index, edge_weight_of(data))
            return Prediction.of_answers([answer], self.threshold, self.temperature)

    def _constructed(self) -> None:
        # A method is defined on undirected graphs, whichever way their edges are listed. A layer in other code warns.
        for module in self.modules():
            if getattr(module, "directed", None) == "warn":
                setattr(module, "directed", "symmetrise")  # noqa: B010

    @property
    def bound_to_nodes(self) -> bool:
        """Whether it holds numbers for each node of the graph it is trained on, besides labels, as its switches are set."""
        held = {name for name, _ in [*self.named_parameters(), *self.named_buffers()]}
        return any(name in held for name in self.per_node if name not in self.known_labels)

    @contextmanager
    def _labels_by_id(self, data: GraphData) -> Iterator[None]:
        """The labels that it knows, at the places that their nodes have in this graph; afterwards as they were."""
        known = {name: buffer for name, buffer in self.named_buffers() if name in self.known_labels}
        if self.seen is not None and known:
            numbers = torch.from_numpy(self.seen.numbers_of(_ids_of(data)))
            for name, labels in known.items():
                self._put(name, torch.where(numbers >= 0, labels[numbers.to(labels.device)], -1))
        try:
            yield
        finally:
            for name, labels in known.items():
                self._put(name, labels)

    def _put(self, name: str, buffer: Tensor) -> None:
        owner, _, own = name.rpartition(".")
        setattr(self.get_submodule(owner), own, buffer)

    def _check_nodes(self, data: GraphData) -> None:
        """A model with numbers for each node is of no use for others, nor for the same in another order."""
        if self.seen is None or not self.bound_to_nodes:
            return
        nodes = _ids_of(data)
        new, gone = self.seen.changes(nodes)
        if not new and not gone and (self.seen.numbers_of(nodes) != np.arange(len(nodes))).any():
            rule = f"the one that {type(self).__name__} was trained on"
            raise InputError("predict", "the graph", rule, got="its nodes in another order")
        if new or gone:
            got = f"{new} new nodes and {gone} that are gone"
            hint = "It holds numbers for each node of that graph; for graphs that change, train another method."
            rule = f"the one that {type(self).__name__} was trained on"
            raise InputError("predict", "the graph", rule, got=got, hint=hint)


def _ids_of(data: GraphData) -> Any:
    ids = getattr(data, "node_ids", None)
    return np.arange(data.num_nodes or 0) if ids is None else ids


def logits_of(answer: Any) -> Tensor:
    """Of a model that returns logits, or (logits, penalty)."""
    logits: Tensor = answer[0] if isinstance(answer, tuple) else answer
    return logits


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
    """x (N x F) of a ``Data``, as a ``SparseOperator`` where that is cheaper: below the given density, or if it is sparse."""
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
