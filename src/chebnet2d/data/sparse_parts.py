"""Sparse matrices whose parts come from a file: scipy's kernels trust them, and read and write wherever they point."""

from typing import Any


def check_parts(matrix: Any) -> None:
    """Raise a ``ValueError`` unless the parts of a CSR or CSC matrix fit each other.

    The full check of scipy takes a last pointer of 0 for an empty matrix, and looks at no other one.
    """
    matrix.check_format(full_check=True)
    if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
        raise ValueError("index pointer values must not fall")
