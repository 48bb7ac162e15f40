"""PDE-GCN: layers are time steps of a diffusion or wave equation on the graph."""

from typing import ClassVar

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, flag, integer, one_of, real
from chebnet2d.graph import Graph, SparseOperator, derived_operator, operator_of, remembered
from chebnet2d.kernels.edge_flux import EdgeBlocks, edge_flux
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, GlorotLinear, check_features

DYNAMICS = ("diffusion", "hyperbolic", "mixed")


@register("pdegcn")
class PDEGCN(NodeClassifier):
    """X = ReLU(x K_open), time steps with dX = G^T s(G X K_l^T) K_l, Z = X K_close (Eliasof, Haber and Treister, NeurIPS 2021).

    G is the weighted gradient from nodes to edges: (G X)_(i,j) = w_ij (X_i - X_j) with w the entries of P~, one row for each
    direction of an edge. Steps of size h: diffusion X - h dX; hyperbolic 2 X - X_old - h^2 dX; mixed
    (2 q X - q X_old + p X - dX) / (p + q) with b = sigmoid(a), p = (1 - b) / h, q = b / h^2.

    The maps K_l are the optimiser group "kernel", a is the group "mix".

    Args:
        hidden_channels: width of X.
        num_layers: number of time steps.
        step_size: h.
        dynamics: "diffusion", "hyperbolic" or "mixed".
        mix_per_layer: an own a for each step of the mixed dynamics.
        dropout: rate on x, on the first X, on the gradients of each step, and before K_close.
        activation: s, "relu" or "tanh".
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"kernel": ("layers.",), "mix": ("mix.",)}

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        num_layers: int = 8,
        step_size: float = 0.5,
        dynamics: str = "mixed",
        mix_per_layer: bool = False,
        dropout: float = 0.6,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        owner = "PDEGCN"
        self.in_channels = in_channels
        integer(owner, "num_layers", num_layers, 1)
        self.step_size = real(owner, "step_size", step_size, 0)
        if self.step_size == 0:
            raise InputError(owner, "step_size", "> 0", got="0")
        self.dynamics = one_of(owner, "dynamics", dynamics, DYNAMICS)
        if flag(owner, "mix_per_layer", mix_per_layer) and dynamics != "mixed":
            raise InputError(owner, "mix_per_layer", "False unless dynamics is 'mixed'", got=f"True with {dynamics!r}")
        self.first = GlorotLinear(in_channels, hidden_channels, bias=False)
        self.layers = nn.ModuleList(Flux(hidden_channels, dropout, activation) for _ in range(num_layers))
        self.last = GlorotLinear(hidden_channels, out_channels, bias=False)
        self.mix = Mix(num_layers if mix_per_layer else 1) if dynamics == "mixed" else None
        self.dropout = Dropout(dropout)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features("PDEGCN", x, self.in_channels)
        now: Tensor = self.dropout(self.first(x, self.dropout).relu())
        operator = operator_of(edge_index, edge_weight, now, kind="P~", owner="PDEGCN")
        before = now
        for number, layer in enumerate(self.layers):
            now, before = self._step(now, before, layer(now, operator), number), now
        logits: Tensor = self.last(self.dropout(now))
        return logits

    def _step(self, now: Tensor, before: Tensor, change: Tensor, number: int) -> Tensor:
        h = self.step_size
        if self.mix is not None:
            part = self.mix(number)
            p, q = (1 - part) / h, part / h**2
            return now + (q * (now - before) - change) / (p + q)
        if self.dynamics == "diffusion":
            return now - h * change
        return 2 * now - before - h**2 * change


class Flux(nn.Module):
    """dX = G^T s(dropout(G X) K^T) K."""

    def __init__(self, channels: int, dropout: float, activation: str) -> None:
        super().__init__()
        self.activation = one_of("PDEGCN", "activation", activation, ("relu", "tanh"))
        self.weight = nn.Parameter(torch.empty(channels, channels))
        self.dropout = Dropout(dropout)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Near the identity: the first guess is plain diffusion."""
        nn.init.uniform_(self.weight, 0, 1e-3)
        with torch.no_grad():
            self.weight.diagonal().add_(1)

    def forward(self, x: Tensor, operator: SparseOperator) -> Tensor:
        if self.activation == "relu" and operator.symmetric and not (self.training and self.dropout.active):
            # ReLU(u) - ReLU(-u) = u, and the two directions of an edge carry u and -u: the sum over edges is linear in X.
            return (edge_laplacian(operator) @ x) @ (self.weight.T @ self.weight)
        gradient = edge_gradient(operator)
        if self.activation == "relu" and self.training and self.dropout.active and x.device.type == "cpu":
            blocks = remembered(gradient, "edge blocks", lambda: EdgeBlocks.of(gradient))
            return edge_flux(blocks, x, self.weight, self.dropout.p) @ self.weight
        flux = self.dropout(gradient @ x) @ self.weight.T
        flux = flux.relu() if self.activation == "relu" else flux.tanh()
        return (gradient.T @ flux) @ self.weight


class Mix(nn.Module):
    """b = sigmoid(a), the part of the wave equation in each step; 1/2 at first."""

    def __init__(self, numbers: int) -> None:
        super().__init__()
        self.logit = nn.Parameter(torch.empty(numbers))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.logit)

    def forward(self, step: int) -> Tensor:
        return self.logit[min(step, self.logit.numel() - 1)].sigmoid()


def edge_gradient(operator: SparseOperator) -> SparseOperator:
    """G: one row for each entry (i, j) of the operator off its diagonal, w_ij at i and -w_ij at j.

    The transpose is the divergence. Entries on the diagonal have no gradient and are left out.
    """

    def build(matrix: SparseOperator) -> SparseOperator:
        coo = matrix.to_scipy().tocoo()
        off = coo.row != coo.col
        row, col, weight = coo.row[off], coo.col[off], coo.data[off]
        edge = np.arange(weight.size)
        entries = (np.concatenate([weight, -weight]), (np.concatenate([edge, edge]), np.concatenate([row, col])))
        gradient = scipy.sparse.coo_array(entries, shape=(weight.size, matrix.shape[0]))
        return SparseOperator.from_scipy(gradient, dtype=operator.dtype).to(device=operator.device)

    return derived_operator(operator, None, operator.shape[0], "edge gradient", build, owner="PDEGCN")


def edge_laplacian(operator: SparseOperator) -> SparseOperator:
    """G^T G / 2: the graph Laplacian of the weights w_ij^2."""

    def build(matrix: SparseOperator) -> SparseOperator:
        squares = matrix.to_scipy().power(2)
        squares = squares - scipy.sparse.diags_array(squares.diagonal())
        laplacian = scipy.sparse.diags_array(squares.sum(axis=1)) - squares
        return SparseOperator.from_scipy(laplacian, dtype=operator.dtype, symmetric=True).to(device=operator.device)

    return derived_operator(operator, None, operator.shape[0], "edge Laplacian", build, owner="PDEGCN")
