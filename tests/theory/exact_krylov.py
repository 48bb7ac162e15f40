"""Distances from block Krylov spaces in 90 digits: an oracle that no rounding can mislead.

Numbers are Python's integers, in units of 2^-300.
"""

from math import isqrt
from operator import mul

import numpy as np

BITS = 300
ONE = 1 << BITS
NOTHING = ONE >> 130  # rounding is below 2^-250, and what is not there is compared with this


def exact_errors(edges, x, z, degree):
    """||T(F) - Z|| / ||Z|| of the best T of degree 0..``degree``, and the dimensions of the spaces. ``edges``: each once."""
    neighbours = _operator(edges, len(x))
    block, rest = ([[_exact(value) for value in column] for column in matrix.T.tolist()] for matrix in (x, z))
    basis, errors, dimensions = [], [], []
    for _ in range(degree + 1):
        new = []
        for column in block:
            left = _without(basis, _without(basis, column))
            size = _size(left)
            if size > NOTHING:
                new.append([(value << BITS) // size for value in left])
                basis.append(new[-1])
                rest = [_without(new[-1:], other) for other in rest]
        errors.append(np.hypot.reduce([_size(column) / ONE for column in rest]))
        dimensions.append(len(basis))
        block = [[sum(w * column[j] for j, w in row) >> BITS for row in neighbours] for column in new]
    return np.array(errors) / np.linalg.norm(z), tuple(dimensions)


def _exact(value):
    numerator, denominator = value.as_integer_ratio()
    return (numerator << BITS) // denominator


def _operator(edges, nodes):
    """L_hat = -D^-1/2 A D^-1/2 as (column, value) pairs of every row."""
    rows = [[] for _ in range(nodes)]
    for a, b in edges.T.tolist():
        rows[a].append(b)
        rows[b].append(a)
    return [[(j, -isqrt(ONE * ONE // (len(row) * len(rows[j])))) for j in row] for row in rows]


def _dot(left, right):
    return sum(map(mul, left, right)) >> BITS


def _size(column):
    return isqrt(sum(map(mul, column, column)))


def _without(basis, column):
    for q in basis:
        along = _dot(q, column)
        column = [value - (along * other >> BITS) for value, other in zip(column, q, strict=True)]
    return column
