"""A model that was trained on bases, as one that takes the graph: for all that asks how its answers depend on nodes and edges."""

from typing import Any

from torch import Tensor

from chebnet2d.graph import Graph
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.on_bases import OnBases
from chebnet2d.nn import Features


class OnGraph(NodeClassifier):
    """The same parameters and, up to rounding, the same logits; the terms are computed whenever they are needed."""

    def __init__(self, model: OnBases) -> None:
        super().__init__()
        self.model = model
        self.preparation, self.seen = model.preparation, model.seen
        self.threshold, self.temperature = model.threshold, model.temperature

    @property
    def config(self) -> dict[str, Any]:
        return self.model.config

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        return self.model.on_graph(x, edge_index, edge_weight)
