"""What bases are computed from: the operator, the features, and the nodes to keep. Checked here."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, one_of
from chebnet2d._version import __version__
from chebnet2d.bases.manifest import FORMAT, TILE, Manifest, basis_parameters, digest, features_digest, operator_digest
from chebnet2d.bases.operators import OPERATORS, large_operator
from chebnet2d.bases.spec import BasesSpec
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis, get_basis


@dataclass(frozen=True)
class Inputs:
    """``rows`` are the nodes to keep; ``labels`` and ``parts`` (fixed splits) belong to them. The manifest has no blocks yet."""

    matrix: SparseOperator
    features: Tensor | SparseOperator
    basis: Basis
    manifest: Manifest
    rows: Any
    labels: Any
    parts: Any


def read_inputs(graph: Any, x: Any, spec: BasesSpec) -> Inputs:
    """See ``precompute``."""
    basis = get_basis(spec.basis)
    data = None if isinstance(graph, SparseOperator) else graph
    matrix, features, kind = _matrices(graph, x, spec.operator)
    rows, labels, parts = _rows(data, spec.rows, matrix.shape[0])
    manifest = Manifest(
        format=FORMAT,
        basis=basis.name,
        parameters=basis_parameters(basis),
        operator=kind,
        degree=spec.degree,
        dtype=spec.dtype,
        nodes=matrix.shape[0],
        features=features.shape[1],
        rows=rows.size,
        graph_digest=operator_digest(matrix),
        features_digest=features_digest(features),
        rows_digest=digest([rows]),
        tile=TILE,
        blocks=[],
        name=str(getattr(data, "name", None) or ""),
        metric=str(getattr(data, "metric", None) or "accuracy"),
        classes=_classes(data),
        version=__version__,
    )
    return Inputs(matrix, features, basis, manifest, rows, labels, parts)


def _matrices(graph: Any, x: Any, kind: str) -> tuple[SparseOperator, Tensor | SparseOperator, str]:
    """M, X, and the kind of M."""
    if isinstance(graph, SparseOperator):
        matrix, kind = graph, "given" if kind == "L_hat" else kind
        if not graph.symmetric:
            raise InputError("precompute", "the operator", "symmetric, with its spectrum in [-1, 1]")
    else:
        if getattr(graph, "edge_index", None) is None:
            raise InputError("precompute", "graph", "a Data with an edge_index, or a SparseOperator", graph)
        one_of("precompute", "operator", kind, OPERATORS)
        weight = getattr(graph, "edge_weight", None)
        matrix = large_operator(graph.edge_index, int(graph.num_nodes), kind, weight)
        x = graph.x if x is None else x
    if isinstance(x, Tensor) and x.layout != torch.strided:
        x = SparseOperator.from_torch(x)
    if not isinstance(x, Tensor | SparseOperator) or len(x.shape) != 2 or x.shape[0] != matrix.shape[0] or x.shape[1] == 0:
        raise InputError("precompute", "x", f"an N x F tensor or SparseOperator with N = {matrix.shape[0]}", x)
    values = x if isinstance(x, Tensor) else x.values
    if not bool(torch.isfinite(values).all()):
        raise InputError("precompute", "x", "finite", got="NaN or infinite values", hint="Fill or drop them first.")
    return matrix.to(dtype=torch.float32, device="cpu"), x, kind


def _rows(data: Any, rows: Any, nodes: int) -> tuple[Any, Any, Any]:
    """The nodes to keep, with their labels and their parts in the fixed splits where there are any."""
    y = getattr(data, "y", None)
    labels = None if y is None else y.numpy()
    if isinstance(rows, str):
        every = np.arange(nodes, dtype=np.int64)
        kept = every if rows == "all" or labels is None else every[labels >= 0]
    else:
        kept = np.asarray(rows)
        if kept.ndim != 1 or kept.size == 0 or not np.issubdtype(kept.dtype, np.integer):
            raise InputError("precompute", "rows", "'labelled', 'all' or a vector of nodes", rows)
        kept = kept.astype(np.int64)
        if kept.min() < 0 or kept.max() >= nodes or np.unique(kept).size != kept.size:
            raise InputError("precompute", "rows", f"different nodes from 0 to {nodes - 1}", got="others among them")
    if kept.size == 0:
        raise InputError("precompute", "rows='labelled'", "a node with a label", got="none", hint="Use rows='all'.", verb="leave")
    masks = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
    parts = None
    if labels is not None and all(mask is not None for mask in masks):
        tables = [np.asarray(mask).reshape(nodes, -1)[kept] for mask in masks]
        parts = np.zeros((kept.size, max(table.shape[1] for table in tables)), dtype=np.uint8)
        for number, table in enumerate(tables, start=1):
            parts[np.broadcast_to(table, parts.shape)] = number
        parts[labels[kept] < 0] = 0
    return kept, None if labels is None else labels[kept], parts


def _classes(data: Any) -> int | None:
    stored = getattr(data, "num_classes", None)
    if stored is not None:
        return int(stored)
    y = getattr(data, "y", None)
    return None if y is None else int(y.max()) + 1
