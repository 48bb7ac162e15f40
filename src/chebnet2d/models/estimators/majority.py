"""The class that most training nodes have: what every method must beat."""

from collections.abc import Iterator

import torch
from torch import Tensor

from chebnet2d._checks import integer
from chebnet2d.graph import Graph, refuse_export
from chebnet2d.models.estimators.estimator import Estimator, as_logits
from chebnet2d.models.registry import register
from chebnet2d.nn import Features, check_features


@register("majority")
class Majority(Estimator):
    """Z = log((n_c + 1) / (n + C)) for every node, n_c the training nodes of class c. Features and graph are not looked at.

    Nor are weights of classes: with these there is no largest class.
    """

    counts: Tensor

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.in_channels = integer("Majority", "in_channels", in_channels, 1)
        integer("Majority", "out_channels", out_channels, 1)
        self.register_buffer("counts", torch.zeros(out_channels, dtype=torch.float64))

    def stages(
        self,
        x: Features,
        edge_index: Graph,
        edge_weight: Tensor | None,
        labels: Tensor,
        seed: int,
        class_weights: Tensor | None = None,
    ) -> Iterator[Tensor]:
        self.learn(counts=torch.bincount(labels[labels >= 0].cpu(), minlength=self.counts.numel()).double())
        yield self(x, edge_index, edge_weight)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        refuse_export("Majority")
        check_features("Majority", x, self.in_channels)
        shares = (self.counts + 1) / (self.counts + 1).sum()
        return as_logits(shares.log().expand(x.shape[0], -1).numpy(), x)
