"""NodeFormer: attention between all pairs of nodes in linear time, by random features, beside the edges of the graph."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from chebnet2d._checks import InputError, flag, integer, one_of, real
from chebnet2d.graph import Graph, SparseOperator, derived_operator
from chebnet2d.kernels.noisy_attention import noisy_attention
from chebnet2d.kernels.random_streams import random_tensor
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, Linear, check_features

STABILISER = 1e-6


@register("nodeformer")
class NodeFormer(NodeClassifier):
    """Layers of all-pair attention plus a bias along the edges (Wu et al., NeurIPS 2022).

    In training ``forward`` gives (logits, penalty) where ``edge_loss`` > 0, the random features are drawn anew each time and
    Gumbel noise perturbs the attention. In evaluation it gives logits, the features come from ``projection_seed``, and there
    is no noise.

    Args:
        hidden_channels: d, width of each head and of all layers.
        num_layers: attention layers.
        num_heads: heads of each layer.
        num_features: M, random features of the kernel.
        gumbel_samples: noise samples averaged in training; 0 for no noise.
        relational_order: number of relational biases; the r-th goes along paths of up to 2^(r-1) edges.
        relational_activation: "sigmoid" or "identity", on the strength of each bias.
        activation: an ELU after each layer.
        jumping_knowledge: classify from all layers side by side, not from the last alone.
        tau: temperature.
        edge_loss: weight of the penalty: minus the mean of log attention on edges, divided by the target's degree.
        dropout: rate after each layer.
        projection: "corrected" (rows in uniform directions) or "published" (directions with a bias, so that the estimate does not
            tend to softmax attention as M grows).
        projection_seed: of the random features in evaluation.
    """

    batches: ClassVar[tuple[str, ...]] = ("induced-train", "induced")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 32,
        num_layers: int = 2,
        num_heads: int = 4,
        num_features: int = 30,
        gumbel_samples: int = 10,
        relational_order: int = 2,
        relational_activation: str = "sigmoid",
        activation: bool = False,
        jumping_knowledge: bool = False,
        tau: float = 0.25,
        edge_loss: float = 1.0,
        dropout: float = 0.0,
        projection: str = "corrected",
        projection_seed: int = 0,
    ) -> None:
        super().__init__()
        owner = "NodeFormer"
        self.in_channels = in_channels
        integer(owner, "num_layers", num_layers, 1)
        self.relational_order = integer(owner, "relational_order", relational_order, 0)
        self.activation = flag(owner, "activation", activation)
        self.jumping_knowledge = flag(owner, "jumping_knowledge", jumping_knowledge)
        self.edge_loss = real(owner, "edge_loss", edge_loss, 0)
        integer(owner, "projection_seed", projection_seed, 0)
        self.first = Linear(in_channels, hidden_channels)
        self.layers = nn.ModuleList(
            NodeFormerLayer(
                hidden_channels,
                num_heads,
                KernelAttention(hidden_channels, num_features, gumbel_samples, tau, projection, (projection_seed, number)),
                RelationalBias(relational_order, num_heads, relational_activation),
            )
            for number in range(num_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden_channels) for _ in range(num_layers + 1))
        self.last = Linear(hidden_channels * (num_layers + 1 if jumping_knowledge else 1), out_channels)
        self.dropout = Dropout(dropout)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        if self.training and self.edge_loss > 0:
            logits, scores = self.logits_and_edge_scores(x, edge_index, edge_weight)
            return logits, -self.edge_loss * scores.mean()
        return self._run(x, edge_index, edge_weight, None)

    def logits_and_edge_scores(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Logits, and for each layer the mean of log attention / degree over edges and heads, which the penalty rewards."""
        scores: list[Tensor] = []
        logits = self._run(x, edge_index, edge_weight, scores)
        return logits, torch.stack(scores)

    def _run(self, x: Features, edge_index: Graph, edge_weight: Tensor | None, scores: list[Tensor] | None) -> Tensor:
        check_features("NodeFormer", x, self.in_channels)
        hidden = self.dropout(elu(self.norms[0](self.first(x))))
        relations = relations_of(edge_index, edge_weight, hidden, self.relational_order)
        states = [hidden]
        for layer, norm in zip(self.layers, self.norms[1:], strict=True):
            hidden = norm(layer(hidden, relations, scores) + hidden)
            hidden = self.dropout(elu(hidden) if self.activation else hidden)
            states.append(hidden)
        logits: Tensor = self.last(torch.cat(states, dim=1) if self.jumping_knowledge else hidden)
        return logits


class NodeFormerLayer(nn.Module):
    def __init__(self, channels: int, num_heads: int, attention: "KernelAttention", relational: "RelationalBias") -> None:
        super().__init__()
        self.num_heads = integer("NodeFormer", "num_heads", num_heads, 1)
        self.query = Linear(channels, channels * num_heads)
        self.key = Linear(channels, channels * num_heads)
        self.value = Linear(channels, channels * num_heads)
        self.out = Linear(channels * num_heads, channels)
        self.attention = attention
        self.relational = relational

    def forward(self, x: Tensor, relations: "Relations", scores: list[Tensor] | None = None) -> Tensor:
        query, key, value = (self._heads(part(x)) for part in (self.query, self.key, self.value))
        mixed, of_query, of_key = self.attention(query, key, value)
        if scores is not None:
            scores.append(edge_score(of_query, of_key, relations))
        mixed = mixed + self.relational(value, relations)
        out: Tensor = self.out(mixed.flatten(1))
        return out

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (self.num_heads, -1))


class KernelAttention(nn.Module):
    """Softmax attention by positive random features. All tensors are N x heads x channels (or features)."""

    projection: Tensor

    def __init__(
        self, channels: int, num_features: int, gumbel_samples: int, tau: float, kind: str, seed: tuple[int, ...]
    ) -> None:
        super().__init__()
        owner = "NodeFormer"
        integer(owner, "hidden_channels", channels, 1)
        self.samples = integer(owner, "gumbel_samples", gumbel_samples, 0)
        self.tau = real(owner, "tau", tau, 0)
        if self.tau == 0:
            raise InputError(owner, "tau", "> 0", got="0")
        self.kind = one_of(owner, "projection", kind, ("corrected", "published"))
        self.shape = (integer(owner, "num_features", num_features, 1), channels)
        fixed = torch.from_numpy(draw_projection(np.random.default_rng(seed), *self.shape, kind))
        self.register_buffer("projection", fixed.to(torch.get_default_dtype()), persistent=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(mixed values, features of the queries, features of the keys); noise perturbs the mixed values only."""
        projection = self.projection
        if self.training:
            projection = random_tensor(lambda generator: draw_projection(generator, *self.shape, self.kind), query)
        of_query = self._features(query, projection, over=(2,))
        of_key = self._features(key, projection, over=(0, 2))
        if self.training and self.samples:
            return self._noisy(of_query, of_key, value), of_query, of_key
        total = torch.einsum("nhm,nhd->hmd", of_key, value)
        normaliser = torch.einsum("nhm,hm->nh", of_query, of_key.sum(dim=0))
        return torch.einsum("nhm,hmd->nhd", of_query, total) / normaliser.unsqueeze(2), of_query, of_key

    def _features(self, x: Tensor, projection: Tensor, over: tuple[int, ...]) -> Tensor:
        # Scaled by a constant of each row (queries) or each head (keys), which cancels in the attention: no overflow.
        x = x / (math.sqrt(self.tau) * x.shape[2] ** 0.25)
        projected = torch.einsum("nhd,md->nhm", x, projection)
        exponent = projected - x.square().sum(dim=2, keepdim=True) / 2 - projected.amax(dim=over, keepdim=True)
        return (exponent.exp() + STABILISER) / math.sqrt(projection.shape[0])

    def _noisy(self, of_query: Tensor, of_key: Tensor, value: Tensor) -> Tensor:
        shape = (*value.shape[:2], self.samples)
        noise = random_tensor(lambda generator: draw_noise(generator, shape, self.tau), value)
        return noisy_attention(of_query, of_key, value, noise)


class RelationalBias(nn.Module):
    """sum_r s(b_r) D_r^-1/2 A_r D_r^-1/2 v, with one b for each order and head."""

    def __init__(self, orders: int, num_heads: int, activation: str) -> None:
        super().__init__()
        self.sigmoid = one_of("NodeFormer", "relational_activation", activation, ("sigmoid", "identity")) == "sigmoid"
        self.strength = nn.Parameter(torch.empty(orders, num_heads)) if orders else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.strength is not None:
            nn.init.constant_(self.strength, 0.1 if self.sigmoid else 1.0)

    def forward(self, value: Tensor, relations: "Relations") -> Tensor | float:
        if self.strength is None:
            return 0.0
        strength = self.strength.sigmoid() if self.sigmoid else self.strength
        columns = value.flatten(1)
        parts = [strength[r].unsqueeze(1) * (operator @ columns).view_as(value) for r, operator in enumerate(relations.operators)]
        return torch.stack(parts).sum(dim=0) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class Relations:
    """What the layers need of a graph.

    ``operators``: D_r^-1/2 A_r D_r^-1/2 for r = 1, 2, ... ``edges``: the pattern of A_1 = A + I, a row for each target, and in it
    1 / degree of the target.
    """

    operators: tuple[SparseOperator, ...]
    edges: SparseOperator


def relations_of(graph: Graph, edge_weight: Tensor | None, like: Tensor, orders: int) -> Relations:
    """Only the pattern of the graph matters here: weights of edges do not."""
    dtype, device = like.dtype, like.device

    def place(matrix: Any, symmetric: bool = False) -> SparseOperator:
        return SparseOperator.from_scipy(matrix, dtype=dtype, symmetric=symmetric).to(device=device)

    def build(adjacency: SparseOperator) -> Relations:
        nodes = adjacency.shape[0]
        reach = _pattern(adjacency.to_scipy() + scipy.sparse.eye_array(nodes))
        edges = place(scipy.sparse.diags_array(1 / np.diff(reach.indptr)) @ reach)
        operators = []
        for order in range(orders):
            if order:
                reach = _pattern(reach @ reach)
            scale = scipy.sparse.diags_array(1 / np.sqrt(np.diff(reach.indptr)))
            operators.append(place(scale @ reach @ scale, symmetric=True))
        return Relations(tuple(operators), edges)

    return derived_operator(graph, edge_weight, like.shape[0], ("relations", orders, dtype, device), build, owner="NodeFormer")


def _pattern(matrix: Any) -> Any:
    matrix = scipy.sparse.csr_array(matrix)
    matrix.data = np.ones(matrix.nnz)
    return matrix


def edge_score(of_query: Tensor, of_key: Tensor, relations: Relations) -> Tensor:
    """Mean over heads and edges (j, i) of log(attention of i on j) / degree of i."""
    products = relations.edges.sampled_product(of_query.movedim(1, 0), of_key.movedim(1, 0))
    normaliser = torch.einsum("nhm,hm->nh", of_query, of_key.sum(dim=0))
    # Every node is the target of as many edges as its degree: over edges, its normaliser counts once.
    return ((products.log() * relations.edges.values).sum() - normaliser.log().sum()) / products.numel()


def draw_projection(generator: np.random.Generator, rows: int, columns: int, kind: str = "corrected") -> Any:
    """rows x columns: blocks of orthogonal rows, whose lengths are those of independent Gaussian vectors."""
    q, r = np.linalg.qr(generator.standard_normal((-(-rows // columns), columns, columns)))
    if kind == "corrected":
        # Q alone is not uniform: its signs are those that the algorithm leaves on the diagonal of R.
        q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    lengths = np.linalg.norm(generator.standard_normal((rows, columns)), axis=1, keepdims=True)
    return lengths * q.transpose(0, 2, 1).reshape(-1, columns)[:rows]


def draw_noise(generator: np.random.Generator, shape: tuple[int, ...], tau: float) -> Any:
    """exp(G / tau), G standard Gumbel, divided by the largest one along the first axis, which cancels in the attention."""
    # exp(G) = 1 / E with E exponential. E can round to 0, and 0 / 0 is not a number.
    waits = np.maximum(generator.standard_exponential(shape), np.finfo(np.float64).tiny)
    return ((waits.min(axis=0, keepdims=True) / waits) ** (1 / tau)).astype(np.float32)
