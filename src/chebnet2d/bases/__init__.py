"""Bases on disk: P_d = p_d(M) X for d = 0..D, computed once in blocks of columns, read back by rows."""

from chebnet2d.bases.bases import Bases
from chebnet2d.bases.manifest import BasesError, Manifest
from chebnet2d.bases.operators import OPERATORS, large_operator
from chebnet2d.bases.precompute import PrecomputeProgress, precompute
from chebnet2d.bases.sizes import parse_bytes
from chebnet2d.bases.spec import BasesSpec

__all__ = [
    "OPERATORS",
    "Bases",
    "BasesError",
    "BasesSpec",
    "Manifest",
    "PrecomputeProgress",
    "large_operator",
    "parse_bytes",
    "precompute",
]
