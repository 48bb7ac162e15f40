"""Which bases are asked for, and what they are computed from: the operator, the features and the nodes to keep. Checked here."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.bases.manifest import DTYPES, Manifest, digest, matrix_digest
from chebnet2d.bases.operators import OPERATORS, any_operator
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis, get_basis


@dataclass(frozen=True)
class BasesSpec:
    """What describes bases, apart from the graph and the features.

    Args:
        basis: a name or an object of ``chebnet2d.polynomials``. Orthonormal ones are those of each column of X.
        degree: D; the terms 0 to D are kept.
        operator: M for a ``Data``: "L_hat", "P" (= -L_hat) or "P~" (with self loops).
        dtype: of the files, "float32" or "float16". The recurrence runs in float32.
        rows: "labelled" (all, where nothing has labels), "all", or the nodes to keep, in the order in which they are stored.
    """

    basis: str | Basis = "chebyshev"
    degree: int = 10
    operator: str = "L_hat"
    dtype: str = "float32"
    rows: Any = "labelled"

    def __post_init__(self) -> None:
        integer("precompute", "degree", self.degree, 0)
        one_of("precompute", "dtype", self.dtype, DTYPES)
        get_basis(self.basis)
        if isinstance(self.rows, str):
            one_of("precompute", "rows", self.rows, ("labelled", "all"))

    @classmethod
    def of(cls, spec: "BasesSpec | None", changes: Mapping[str, Any]) -> "BasesSpec":
        """``spec``, or the default, with some fields changed."""
        for name in changes:
            one_of("precompute", "an argument", name, [field.name for field in fields(cls)])
        return replace(cls() if spec is None else spec, **changes)


class Inputs(NamedTuple):
    """``rows`` are the nodes to keep; ``labels`` and ``parts`` (fixed splits) belong to them.

    ``ids``: of all nodes; None: their numbers. The manifest has no blocks yet.
    """

    matrix: SparseOperator | DiskOperator
    features: Tensor | SparseOperator
    basis: Basis
    manifest: Manifest
    rows: Any
    labels: Any
    parts: Any
    ids: Any


def read_inputs(graph: Any, x: Any, spec: BasesSpec) -> Inputs:
    """See ``precompute``."""
    basis = get_basis(spec.basis)
    data = None if isinstance(graph, SparseOperator) else graph
    matrix, features, kind = _matrices(graph, x, spec.operator)
    y, classes = getattr(data, "y", None), getattr(data, "num_classes", None)
    if classes is None and y is not None:
        classes = y.max() + 1
    rows = _rows(y, spec.rows, matrix.shape[0])
    manifest = Manifest(
        basis=basis.name,
        parameters={name: float(value) for name, value in vars(basis).items()},
        operator=kind,
        degree=spec.degree,
        dtype=spec.dtype,
        nodes=matrix.shape[0],
        features=features.shape[1],
        rows=rows.size,
        graph_digest=matrix_digest(matrix),
        features_digest=matrix_digest(features),
        rows_digest=digest(rows),
        name=str(getattr(data, "name", None) or ""),
        metric=str(getattr(data, "metric", None) or "accuracy"),
        classes=None if classes is None else int(classes),
    )
    labels = None if y is None else y.numpy()[rows]
    parts = None if labels is None else _parts(data, rows, labels)
    return Inputs(matrix, features, basis, manifest, rows, labels, parts, _ids(data, matrix.shape[0]))


def _matrices(graph: Any, x: Any, kind: str) -> tuple[SparseOperator | DiskOperator, Tensor | SparseOperator, str]:
    """M, X, and the kind of M. A ready operator, alone or in a Data, is what it was made as; one of the user's own is "given"."""
    alone = isinstance(graph, SparseOperator)
    given = graph if alone else getattr(graph, "edge_index", None)
    if given is None:
        raise InputError("precompute", "graph", "a Data with an edge_index, or a SparseOperator", graph)
    if isinstance(given, SparseOperator | DiskOperator) and not given.symmetric:
        raise InputError("precompute", "the operator", "symmetric, with its spectrum in [-1, 1]")
    matrix = graph
    if not alone:
        one_of("precompute", "operator", kind, OPERATORS)
        matrix = any_operator(graph, kind)
        x = graph.x if x is None else x
    if isinstance(given, SparseOperator | DiskOperator):
        kind = given.kind or ("given" if kind == "L_hat" else kind)
    if isinstance(x, Tensor) and x.layout != torch.strided:
        x = SparseOperator.from_torch(x)
    if not isinstance(x, Tensor | SparseOperator) or len(x.shape) != 2 or x.shape[0] != matrix.shape[0] or x.shape[1] == 0:
        raise InputError("precompute", "x", f"an N x F tensor or SparseOperator with N = {matrix.shape[0]}", x)
    values = x if isinstance(x, Tensor) else x.values
    if not bool(torch.isfinite(values).all()):
        raise InputError("precompute", "x", "finite", got="NaN or infinite values", hint="Fill or drop them first.")
    return matrix.to(dtype=torch.float32, device="cpu"), x, kind


def _rows(y: Tensor | None, rows: Any, nodes: int) -> Any:
    """The nodes to keep."""
    if isinstance(rows, str):
        every = np.arange(nodes, dtype=np.int64)
        kept = every if rows == "all" or y is None else every[y.numpy() >= 0]
        if kept.size == 0:
            got, hint = "none", "Use rows='all'."
            raise InputError("precompute", "rows='labelled'", "a node with a label", got=got, hint=hint, verb="leave")
        return kept
    kept = np.asarray(rows)
    if kept.ndim != 1 or kept.size == 0 or not np.issubdtype(kept.dtype, np.integer):
        raise InputError("precompute", "rows", "'labelled', 'all' or a vector of nodes", rows)
    if kept.min() < 0 or kept.max() >= nodes or np.unique(kept).size != kept.size:
        raise InputError("precompute", "rows", f"different nodes from 0 to {nodes - 1}", got="others among them")
    return kept.astype(np.int64)


def _ids(data: Any, nodes: int) -> Any:
    ids = getattr(data, "node_ids", None)
    if ids is not None and len(ids) != nodes:
        raise InputError("precompute", "node_ids", f"one for each of {nodes} nodes", got=str(len(ids)))
    return ids


def _parts(data: Any, rows: Any, labels: Any) -> Any:
    """Rows x splits: the part of each row in the fixed splits, numbered as in the manifest; None if there are no such splits."""
    masks = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
    if any(mask is None for mask in masks):
        return None
    tables = [np.asarray(mask).reshape(int(data.num_nodes), -1)[rows] for mask in masks]
    parts = np.zeros((rows.size, max(table.shape[1] for table in tables)), dtype=np.uint8)
    for number, table in enumerate(tables, start=1):
        parts[np.broadcast_to(table, parts.shape)] = number
    parts[labels < 0] = 0
    return parts
