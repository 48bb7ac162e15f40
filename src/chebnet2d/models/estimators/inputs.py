"""What an estimator sees of a node: one row of numbers from its features, its neighbours' features and their known labels."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.graph import Graph, SparseOperator, derived_operator, refuse_export
from chebnet2d.models.estimators.learned_buffers import LearnedBuffers
from chebnet2d.nn import Features, check_features
from chebnet2d.nn.features import pattern_of

INPUTS = ("features", "neighbours", "labels")


class Inputs(LearnedBuffers):
    """N x K numbers. Each kind has what the one before it has, and more:

        features     x; where that has more than ``columns`` columns, its first ``columns`` principal directions (truncated SVD)
        neighbours   the means of that over neighbours and over walks of two steps, and log(1 + degree)
        labels       the shares of the classes among the training nodes that are neighbours, or two steps away, and how many
                     those are

    A node's own label is in none of its numbers: there are no self loops, and walks of two steps that come back are left out.
    These are counted without edge weights: with whole numbers the difference is exact, and nothing of the label is left in its
    rounding. ``known``, the labels of the training nodes, belongs to the model; ``predict`` puts them where these nodes are in
    another graph.
    """

    projection: Tensor
    known: Tensor

    def __init__(self, owner: str, in_channels: int, out_channels: int, kind: str, columns: int) -> None:
        super().__init__()
        self.owner = owner
        self.in_channels = integer(owner, "in_channels", in_channels, 1)
        self.out_channels = integer(owner, "out_channels", out_channels, 1)
        self.kind = one_of(owner, "inputs", kind, INPUTS)
        self.columns = integer(owner, "columns", columns, 1)
        self.register_buffer("projection", torch.zeros(0, 0, dtype=torch.float64))
        if kind == "labels":  # others serve any graph, and hold nothing of the nodes
            self.register_buffer("known", torch.zeros(0, dtype=torch.int64))

    @property
    def width(self) -> int:
        """K, at most."""
        own = min(self.in_channels, self.columns)
        means, labels = (2 * own + 1, 2 * (self.out_channels + 1))
        return own + (means if self.kind != "features" else 0) + (labels if self.kind == "labels" else 0)

    def prepare(self, x: Features, labels: Tensor, seed: int) -> None:
        """Learn what the rows need. ``labels``: N, -1 for all but the training nodes. The features of all nodes are looked at."""
        check_features(self.owner, x, self.in_channels)
        if self.in_channels > self.columns:
            from sklearn.utils.extmath import randomized_svd

            matrix = _matrix(x)
            wanted = min(self.columns, *matrix.shape)
            self.learn(projection=np.ascontiguousarray(randomized_svd(matrix, wanted, random_state=seed)[2].T))
        if self.kind == "labels":
            self.learn(known=labels.cpu().clone())

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Any:
        """An array of N rows. In float32: the order of a sum over neighbours changes the last bits of its float64 alone."""
        refuse_export(self.owner)
        check_features(self.owner, x, self.in_channels)
        matrix = _matrix(x)
        own = matrix @ self.projection.numpy() if self.projection.numel() else matrix
        own = own.toarray() if scipy.sparse.issparse(own) else own
        parts = [own]
        if self.kind != "features":
            adjacency = derived_operator(
                edge_index,
                edge_weight,
                x.shape[0],
                "A for estimators",
                lambda a: a.to_scipy().astype(np.float64),
                owner=self.owner,
            )
            degree = adjacency.sum(axis=1)
            mean = _divided(adjacency @ own, degree)
            parts += [mean, _divided(adjacency @ mean, degree), np.log1p(degree)[:, None]]
            if self.kind == "labels":
                parts += self._shares(adjacency)
        return np.hstack(parts).astype(np.float32)

    def _shares(self, adjacency: Any) -> list[Any]:
        nodes, classes = adjacency.shape[0], self.out_channels
        if self.known.numel() not in (0, nodes):  # none: the model is not trained yet
            hint = "Neighbours' labels are known by the number of their nodes; inputs='neighbours' serves any graph."
            got = f"one of {nodes}"
            raise InputError(
                self.owner, "the graph", f"the one of {self.known.numel()} nodes it was trained on", got=got, hint=hint
            )
        one_hot = np.zeros((nodes, classes))
        if self.known.numel():
            train = np.flatnonzero(self.known.numpy() >= 0)
            one_hot[train, self.known.numpy()[train]] = 1.0
        pattern = scipy.sparse.csr_array((np.ones_like(adjacency.data), adjacency.indices, adjacency.indptr), adjacency.shape)
        back = np.diff(adjacency.indptr)[:, None] * one_hot  # as many walks i - j - i as i has neighbours
        parts = []
        for seen in (adjacency @ one_hot, pattern @ (pattern @ one_hot) - back):
            total = seen.sum(axis=1)
            parts += [_divided(seen, total), np.log1p(total)[:, None]]
        return parts


def _matrix(x: Features) -> Any:
    """In float64, dense or CSR, with finite values."""
    x = pattern_of(x)
    matrix = x.to_scipy().astype(np.float64) if isinstance(x, SparseOperator) else x.detach().cpu().double().numpy()
    if not np.isfinite(matrix.data if scipy.sparse.issparse(matrix) else matrix).all():
        raise InputError("predict", "x", "finite", got="NaN or infinite values", hint="Fill or drop them first.")
    return matrix


def _divided(rows: Any, by: Any) -> Any:
    """Each row by its number, and zeros where that is 0."""
    return np.divide(rows, by[:, None], out=np.zeros_like(rows), where=by[:, None] > 0)
