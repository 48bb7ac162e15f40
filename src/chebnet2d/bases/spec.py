"""Which bases are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from chebnet2d._checks import integer, one_of
from chebnet2d.bases.manifest import DTYPES
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
