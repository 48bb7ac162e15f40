"""The part of a model after its MLP, where it is linear: the logit of node i and class c is sum_j <R_j, h_j> + constant.

Z = sum_d T_d(M) h W_d, so row i needs the vectors v_d = T_d(M)^T e_i alone, one number per node: R_j = sum_d v_d[j] W_d[:, c].
No gradient is taken, and the cost of a node is that of D products of the graph with one column.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from chebnet2d.conv import PolynomialConv
from chebnet2d.conv.polynomial_conv import Signal
from chebnet2d.graph import GraphData, SparseOperator
from chebnet2d.models import Decoupled, NodeClassifier
from chebnet2d.models.node_classifier import evaluating
from chebnet2d.polynomials import chebyshev_nodes, coefficient_matrix


@dataclass(frozen=True)
class LinearPart:
    """``signal``: h, N x C. ``end``: A and b, from the convolution's output to the K logits."""

    signal: Tensor
    operator: SparseOperator
    conv: PolynomialConv
    end: tuple[Tensor, Tensor]

    @property
    def degree(self) -> int:
        return self.conv.degree

    @property
    def constant(self) -> Tensor:
        """The logits for the signal 0: K numbers."""
        bias = getattr(self.conv, "bias", None)
        return self.end[1] if bias is None else bias @ self.end[0] + self.end[1]

    def response(self, frequencies: Tensor) -> Tensor:
        """From channel to logit at each frequency: n x C x K. A basis that depends on the signal is held as it is for h."""
        signal: Signal = (self.signal, self.operator)
        found = self.conv.response(frequencies, signal)
        weight = self.end[0]
        if found.dim() == 1:
            return found[:, None, None] * weight
        return found.unsqueeze(2) * weight if found.dim() == 2 else found @ weight

    def coefficients(self) -> Tensor:
        """W_d of the Chebyshev polynomials, from channel to logit: (D + 1) x C x K."""
        at_nodes = self.response(chebyshev_nodes(self.degree))
        return torch.tensordot(coefficient_matrix(self.degree, "interpolation"), at_nodes, dims=1)

    def walks(self, nodes: Tensor, degree: int) -> Iterator[Tensor]:
        """T_d(M)^T e_i for d = 0..degree, N x B for B nodes i."""
        start = self.signal.new_zeros(self.signal.shape[0], len(nodes))
        start[nodes, torch.arange(len(nodes))] = 1.0
        transposed = self.operator.T
        before, current = start, start
        yield current
        for d in range(1, degree + 1):
            moved = transposed.multiply(current)
            before, current = current, moved if d == 1 else 2 * moved - before
            yield current

    def rows(self, nodes: Tensor, classes: Tensor) -> Tensor:
        """R of each node and its class: B x N x C."""
        maps = self.coefficients()[:, :, classes]  # (D + 1) x C x B
        found = self.signal.new_zeros(len(nodes), *self.signal.shape)
        for walk, weights in zip(self.walks(nodes, self.degree), maps, strict=True):
            for b in range(len(nodes)):
                found[b].addr_(walk[:, b], weights[:, b])
        return found


def linear_part(model: NodeClassifier, data: GraphData) -> LinearPart | None:
    """Of a model in float64 on a prepared graph in float64; None where the model has no such part."""
    end = model.linear_end() if isinstance(model, Decoupled) else None
    if end is None:
        return None
    assert isinstance(model, Decoupled)
    with evaluating(model):
        signal, operator = model.signal_on(data)
    return LinearPart(signal, operator, model.own_filter(), end)
