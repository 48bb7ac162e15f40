"""Bases on disk: P_d = p_d(M) X for d = 0..D, computed once in blocks of columns, read back by rows."""

from chebnet2d.bases.operators import OPERATORS, large_operator
from chebnet2d.bases.plan import BasesError
from chebnet2d.bases.precompute import PrecomputeProgress, precompute
from chebnet2d.bases.sizes import parse_bytes
from chebnet2d.bases.store import Bases

__all__ = [
    "OPERATORS",
    "Bases",
    "BasesError",
    "PrecomputeProgress",
    "large_operator",
    "parse_bytes",
    "precompute",
]
