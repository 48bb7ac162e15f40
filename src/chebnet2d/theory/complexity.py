"""Multiplications and parameters, counted while layers and models run, beside the formulas."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from chebnet2d.conv import SpectralConv
from chebnet2d.graph import SparseOperator


@dataclass(frozen=True)
class Count:
    """Multiplications with the sparse operator (``graph``), over the N rows (``nodes``) and of parameters alone (``maps``),
    and the number of learned parameters."""

    graph: int
    nodes: int
    maps: int
    parameters: int


class _Counter(TorchDispatchMode):
    """Counts the multiplications of every product that torch computes; scalings by 2 and -1 in a recurrence do not count."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows
        self.graph = self.nodes = self.maps = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Without this torch imports its compiler, only to exclude this mode from it, which takes seconds."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__.rstrip("_")
        factors = {"mm": args[:2], "bmm": args[:2], "mv": args[:2], "addmm": args[1:3], "baddbmm": args[1:3]}.get(name)
        if factors is not None:
            self._product(factors[0], factors[1])
        elif name in ("mul", "addcmul") and all(isinstance(arg, Tensor) for arg in args[:2]):
            self._add(result.numel(), self.rows in result.shape)
        return result

    def _product(self, left: Tensor, right: Tensor) -> None:
        columns = right.shape[-1] if right.dim() > 1 else 1
        if left.layout != torch.strided:
            self.graph += left.values().numel() * columns
        else:
            self._add(left.numel() * columns, self.rows in left.shape)

    def _add(self, count: int, over_nodes: bool) -> None:
        if over_nodes:
            self.nodes += count
        else:
            self.maps += count


def count(module: nn.Module, x: Tensor, operator: SparseOperator) -> Count:
    """One forward pass of a layer or model, for x: N x F and an operator: N x N. N must differ from every other size in it."""
    counter = _Counter(x.shape[0])
    module.eval()
    with torch.no_grad(), counter:
        module(x, operator)
    learned = sum(parameter.numel() for parameter in module.parameters())
    return Count(counter.graph, counter.nodes, counter.maps, learned)


@dataclass(frozen=True)
class Cost:
    """A convolution of one paradigm: what was counted, and what the formulas say."""

    paradigm: str
    counted: Count
    graph: int
    nodes: int
    parameters: int
    formula: str

    @property
    def difference(self) -> int:
        counted = self.counted
        return abs(counted.graph - self.graph) + abs(counted.nodes - self.nodes) + abs(counted.parameters - self.parameters)


def convolution_costs(operator: SparseOperator, channels: int, degree: int, rank: int = 2) -> list[Cost]:
    """Every paradigm on one graph with C = C' channels and degree D. ``nnz`` is twice the number of edges.

    The paper counts D N^2 C for the graph (a dense matrix) and (D + 1) N C^2 for the maps of the 2-D convolution.
    """
    nodes, nnz = operator.shape[0], operator.nnz
    terms, pairs = degree + 1, channels * channels
    formulas = {
        "I": (terms * nodes * channels, terms, "(D+1) N C, D+1"),
        "II": (terms * nodes * channels + nodes * pairs, terms + pairs, "(D+1) N C + N C^2, D+1 + C^2"),
        "III": (terms * nodes * channels, terms * channels, "(D+1) N C, (D+1) C"),
        "2d": (terms * nodes * pairs, terms * pairs, "(D+1) N C^2, (D+1) C^2"),
        "rank": (terms * nodes * pairs, rank * (terms + pairs), "(D+1) N C^2, r (D+1 + C^2)"),
    }
    x = torch.randn(nodes, channels, dtype=operator.dtype, generator=torch.Generator().manual_seed(0))
    costs = []
    for name, (over_nodes, parameters, formula) in formulas.items():
        layer = SpectralConv(channels, channels, degree, paradigm=name, rank=rank if name == "rank" else None).to(operator.dtype)
        costs.append(Cost(name, count(layer, x, operator), degree * nnz * channels, over_nodes, parameters, formula))
    return costs
