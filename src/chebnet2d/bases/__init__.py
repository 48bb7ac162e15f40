"""Bases on disk: P_d = p_d(M) X for d = 0..D, computed once in blocks of columns, read back by rows."""

from chebnet2d._sizes import parse_bytes
from chebnet2d.bases.bases import Bases
from chebnet2d.bases.extend import Extended, extend
from chebnet2d.bases.filling import PrecomputeProgress
from chebnet2d.bases.inputs import BasesSpec
from chebnet2d.bases.manifest import BasesError, Manifest, OtherBasesError
from chebnet2d.bases.operators import OPERATORS, give_up_edges, large_operator
from chebnet2d.bases.precompute import precompute

__all__ = [
    "OPERATORS",
    "Bases",
    "BasesError",
    "BasesSpec",
    "Extended",
    "Manifest",
    "OtherBasesError",
    "PrecomputeProgress",
    "extend",
    "give_up_edges",
    "large_operator",
    "parse_bytes",
    "precompute",
]
