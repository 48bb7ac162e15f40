"""ChebNetII as its authors' code does it, written anew in plain torch: the anchor of table 4.

Dense features, torch's own dropout and sparse product, one dense tensor per degree in memory, a Python loop over degrees for the
coefficients and for their sum. Only the reading of the graph and its Laplacian are the library's. Sizes, batches and settings are
those of the lines beside it.

    g_j = ReLU(theta_j) at x_j = cos((K - j + 1/2) pi / (K + 1));  c_k = 2 / (K + 1) sum_j g_j T_k(x_j)
    Z = c_0 / 2 T_0(L_hat) H + sum_{k >= 1} c_k T_k(L_hat) H

On ogbn graphs H is X, T_k(L_hat) X is computed once, and an MLP follows; on the others H is the MLP's answer.
"""

import math
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chebnet2d.bases import large_operator
from chebnet2d.data import load, num_classes, split
from chebnet2d.reports.timings import ON_BASES, Timing, peak_mib

NAME = "chebnetii, published loop"
DEGREE, ROWS, DROPOUT = 10, 10_000, 0.5


def chebyshev(k: int, x: float) -> float:
    """T_k(x), by its recurrence."""
    before, now = 1.0, x
    if k == 0:
        return before
    for _ in range(k - 1):
        before, now = now, 2 * x * now - before
    return now


def terms_of(laplacian: Tensor, h: Tensor, degree: int) -> list[Tensor]:
    """T_k(L_hat) h for k = 0..K, all of them in memory."""
    terms = [h, torch.sparse.mm(laplacian, h)]
    for _ in range(degree - 1):
        terms.append(2 * torch.sparse.mm(laplacian, terms[-1]) - terms[-2])
    return terms


class PublishedChebNetII(nn.Module):
    """``sizes``: of the MLP's layers, input and classes included. ``first``: the filter before the MLP, on terms of X."""

    def __init__(self, sizes: Sequence[int], degree: int = DEGREE, dropout: float = DROPOUT, *, first: bool) -> None:
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise(sizes))
        self.theta = nn.Parameter(torch.ones(degree + 1))
        self.degree, self.dropout, self.first = degree, dropout, first

    def forward(self, x: Tensor | Sequence[Tensor], laplacian: Tensor | None = None) -> Tensor:
        """``x``: the terms of rows of X where the filter is first; else all of X, with the Laplacian."""
        if self.first:
            return self.mlp(self.filtered(list(x)))
        assert laplacian is not None
        assert isinstance(x, Tensor)
        h = self.mlp(F.dropout(x, self.dropout, self.training))
        return self.filtered(terms_of(laplacian, h, self.degree))

    def mlp(self, x: Tensor) -> Tensor:
        for linear in self.linears[:-1]:
            x = F.dropout(F.relu(linear(x)), self.dropout, self.training)
        answer: Tensor = self.linears[-1](x)
        return answer

    def filtered(self, terms: Sequence[Tensor]) -> Tensor:
        values, count = F.relu(self.theta), self.degree + 1
        out = torch.zeros_like(terms[0])
        for k, term in enumerate(terms):
            coefficient = torch.zeros(())
            for j in range(count):
                coefficient = coefficient + values[j] * chebyshev(k, math.cos((self.degree - j + 0.5) * math.pi / count))
            coefficient = 2 / count * coefficient
            out = out + (coefficient / 2 if k == 0 else coefficient) * term
        return out


class MiniBatches:
    """Rows of the terms of X: T_k(L_hat) X is computed for all nodes, and what training and validation need of it is kept."""

    def __init__(self, data: Any, laplacian: Tensor, parts: Any) -> None:
        terms = terms_of(laplacian, _dense(data.x), DEGREE)
        self.train, self.val = ([term[nodes] for term in terms] for nodes in (parts.train, parts.val))
        self.y_train, self.y_val = data.y[parts.train], data.y[parts.val]

    def training(self) -> Iterator[tuple[tuple[Any, ...], Tensor, Tensor | None]]:
        for rows in torch.randperm(self.y_train.numel()).split(ROWS):
            yield ([term[rows] for term in self.train],), self.y_train[rows], None

    def validation(self) -> Iterator[tuple[tuple[Any, ...], Tensor, Tensor | None]]:
        for rows in torch.arange(self.y_val.numel()).split(ROWS):
            yield ([term[rows] for term in self.val],), self.y_val[rows], None


class FullBatch:
    """All nodes at once; the loss looks at some of them."""

    def __init__(self, data: Any, laplacian: Tensor, parts: Any) -> None:
        self.inputs, self.y, self.parts = (_dense(data.x), laplacian), data.y, parts

    def training(self) -> Iterator[tuple[tuple[Any, ...], Tensor, Tensor | None]]:
        yield self.inputs, self.y[self.parts.train], self.parts.train

    def validation(self) -> Iterator[tuple[tuple[Any, ...], Tensor, Tensor | None]]:
        yield self.inputs, self.y[self.parts.val], self.parts.val


def train(model: nn.Module, batches: MiniBatches | FullBatch, epochs: int, lr: float, weight_decay: float) -> float:
    """Seconds of the epochs, each with its look at the validation nodes; the best state is copied, as one does."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=weight_decay)
    best, start = -1.0, time.perf_counter()
    for _ in range(epochs):
        model.train()
        for inputs, y, nodes in batches.training():
            optimizer.zero_grad()
            answer = model(*inputs)
            F.cross_entropy(answer if nodes is None else answer[nodes], y).backward()
            optimizer.step()
        model.eval()
        right = rows = 0
        with torch.no_grad():
            for inputs, y, nodes in batches.validation():
                answer = model(*inputs)
                right += int(((answer if nodes is None else answer[nodes]).argmax(dim=1) == y).sum())
                rows += y.numel()
        if right / rows > best:
            best, _ = right / rows, {name: value.clone() for name, value in model.state_dict().items()}
    return time.perf_counter() - start


def measure(_: None, dataset: str, root: Path, epochs: int) -> Timing:
    """A line of table 4; in a process of its own, so that the peak is its own."""
    data: Any = load(dataset, root)
    parts, first = split(data, "fixed", seed=0), dataset in ON_BASES
    nodes, features, classes = data.num_nodes, data.num_features, num_classes(data)
    laplacian = large_operator(data.edge_index, nodes).csr
    data.edge_index = None
    start = time.perf_counter()
    batches = (MiniBatches if first else FullBatch)(data, laplacian, parts)
    spent = time.perf_counter() - start if first else None
    model = PublishedChebNetII([features, 512, 512, classes] if first else [features, 64, classes], first=first)
    seconds = train(model, batches, epochs, lr=1e-3 if first else 0.01, weight_decay=5e-4)
    facts: dict[str, Any] = {"precompute_seconds": spent, "peak_mib": peak_mib(), "epochs": epochs}
    facts |= {
        "parameters": sum(p.numel() for p in model.parameters()),
        "epoch_seconds": seconds / epochs,
        "total_seconds": seconds,
    }
    return Timing(dataset, NAME, "filter-first" if first else "full-batch", bool(data.get("generated")), nodes, **facts)


def _dense(x: Any) -> Tensor:
    dense: Tensor = x if isinstance(x, Tensor) and x.layout == torch.strided else x.to_dense()
    return dense
