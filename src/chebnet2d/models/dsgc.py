"""DSGC: a fixed filter over the graph and a fixed one over the features, then an MLP."""

import math
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import one_of, real
from chebnet2d.conv import FixedFilter
from chebnet2d.graph import Graph, SparseOperator, operator_of, refuse_export, remembered
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, GlorotLinear
from chebnet2d.nn.features import pattern_of

ROWS = ("rw", "lp", "none")
COLUMNS = ("ppmi", "lazy", "none")


def positive_pmi(x: Tensor | SparseOperator) -> Any:
    """Positive pointwise mutual information of the columns of x, F x F (scipy): which features occur together more often than
    by chance. Presence counts, not values; a column with itself has 0."""
    matrix = x.to_scipy() if isinstance(x, SparseOperator) else scipy.sparse.csr_array(x.detach().cpu().numpy())
    present = scipy.sparse.csr_array(matrix != 0).astype(np.float64)
    together = scipy.sparse.csr_array(present.T @ present)
    together = scipy.sparse.csr_array(together - scipy.sparse.diags_array(together.diagonal()))
    together.eliminate_zeros()
    sums = together.sum(axis=1)
    rows = np.repeat(np.arange(together.shape[0]), np.diff(together.indptr))
    information = np.log(together.data * sums.sum() / (sums[rows] * sums[together.indices]))
    together.data = np.maximum(information, 0.0)
    together.eliminate_zeros()
    return together


def column_filter(x: Tensor | SparseOperator, columns: str) -> SparseOperator:
    """ "ppmi": F = D^-1/2 PPMI D^-1/2. "lazy": (I + D^-1/2 (PPMI + I) D^-1/2) / 2. Symmetric, in the precision of x."""
    affinity = positive_pmi(x)
    eye = scipy.sparse.eye_array(affinity.shape[0])
    if columns == "lazy":
        affinity = scipy.sparse.csr_array(affinity + eye)
    degree = affinity.sum(axis=1)
    scale = np.zeros_like(degree)
    np.divide(1.0, np.sqrt(degree), out=scale, where=degree > 0)
    diagonal = scipy.sparse.diags_array(scale)
    normalised = diagonal @ affinity @ diagonal
    if columns == "lazy":
        normalised = (normalised + eye) / 2
    return SparseOperator.from_scipy(normalised, dtype=x.dtype, symmetric=True).to(device=x.device)


def _mixed(x: Tensor | SparseOperator, mixing: SparseOperator) -> Tensor:
    """X F, for a symmetric F."""
    return (mixing @ (x.to_dense() if isinstance(x, SparseOperator) else x).T.contiguous()).T.contiguous()


class TwoSteps(FixedFilter):
    """(D~^-1 A~)^2. The operator is not symmetric, as the fused operation would need it."""

    def __init__(self) -> None:
        super().__init__([0.0, 0.0, 1.0], operator="D~^-1 A~")

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        walk = operator_of(edge_index, edge_weight, x, kind=self.operator, owner="DSGC")
        return walk @ (walk @ x)


def _asks_for_gradient(x: Features) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


@register("dsgc")
class DSGC(Decoupled):
    """U = G X F with fixed G and F, then an MLP (Li et al. 2021).

    The first linear map is applied before G, and where F has few entries before F too: G (X (F W1)), with X sparse. Where X F has
    fewer numbers than F, it is formed once: G ((X F) W1).

    Args:
        dropout: before the second linear layer; unified: before both.
        rows: G. "rw": two steps of the random walk with self loops (citation graphs). "lp": the low pass of strength
            ``alpha`` (WebKB). "none": I.
        columns: F, from which features occur together: "ppmi", "lazy" (half of it stays in place), or "none". For features that
            are not counts, use "none".
        alpha: of "lp".
        variant: "faithful", or "unified": the MLP to C logits, then G. Logits have no words, so F is not used there.
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {}
    degree_argument: ClassVar[tuple[str, int] | None] = None
    defaults: ClassVar[dict[str, Any]] = {"dropout": 0.2}
    left_out = frozenset({"filter_dropout"})
    varies_in_stack = frozenset({"dropout"})

    def _build(self, sizes: Sizes, *, columns: str = "ppmi", **arguments: Any) -> None:
        self.columns = one_of("DSGC", "columns", columns, COLUMNS)
        super()._build(sizes, **arguments)

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        in_channels, hidden_channels, out_channels = sizes
        self.conv = self.convolution(hidden_channels, hidden_channels, **options)
        self.first = GlorotLinear(in_channels, hidden_channels)
        self.dropout = Dropout(dropout)
        self.second = GlorotLinear(hidden_channels, out_channels)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, rows: str = "rw", alpha: float = 0.2) -> FixedFilter:
        """G, on any number of channels."""
        alpha = real("DSGC", "alpha", alpha, 1e-3)
        if one_of("DSGC", "rows", rows, ROWS) == "rw":
            return TwoSteps()
        low_pass = [alpha / (1 + alpha) ** (i + 1) for i in range(math.ceil(4 / alpha))]
        return FixedFilter([1.0] if rows == "none" else low_pass)

    def _faithful(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        hidden = self._filtered(x, edge_index, edge_weight, self.first.weight)
        assert self.first.bias is not None
        logits: Tensor = self.second(self.dropout((hidden + self.first.bias).relu()))
        return logits

    def smooth(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """U = G X F, dense."""
        like = pattern_of(x)
        return self._filtered(x, edge_index, edge_weight, torch.eye(x.shape[1], dtype=like.dtype, device=like.device))

    def _filtered(self, x: Features, edge_index: Graph, edge_weight: Tensor | None, weight: Tensor) -> Tensor:
        """G X F W."""
        refuse_export("DSGC")
        if self.columns != "none":
            given = pattern_of(x)
            mixing = remembered(given, ("DSGC", self.columns), lambda: column_filter(given, self.columns))
            if given.shape[0] * given.shape[1] < mixing.nnz and given is x and not _asks_for_gradient(x):
                x = remembered(given, ("DSGC X F", self.columns), lambda: _mixed(given, mixing))
            else:
                weight = mixing @ weight
        smooth: Tensor = self.conv(x @ weight, edge_index, edge_weight)
        return smooth
