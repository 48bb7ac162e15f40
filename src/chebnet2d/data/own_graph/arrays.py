"""Features and ids from arrays, checked before anything is computed from them."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.feature_blocks import Dense, Sparse, as_float32
from chebnet2d.data.own_graph.features import Features
from chebnet2d.data.own_graph.numpy_files import load_npy, load_npz
from chebnet2d.data.own_graph.table import first_line, shown
from chebnet2d.data.reading_limit import check_size
from chebnet2d.data.sparse_parts import check_parts

_KINDS: dict[str, Any] = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array, "coo": scipy.sparse.coo_array}


def read_feature_file(path: Path) -> Features:
    """.npy: an N x F matrix. .npz: a scipy sparse matrix as ``scipy.sparse.save_npz`` writes it, or one matrix ``x``."""
    label = str(path)
    if path.suffix.lower() == ".npy":
        return array_features(label, "the array", load_npy(path))
    arrays, listed = load_npz(path, ("format", "shape", "data", "indices", "indptr", "row", "col", "x", "features"))
    if not {"format", "shape", "data"} <= arrays.keys():
        for name in ("x", "features"):
            if name in arrays:
                return array_features(label, name, arrays[name])
        rule = "a sparse matrix (as scipy.sparse.save_npz writes it) or a matrix x"
        raise InputError(label, "the archive", rule, got=listed, verb="hold")
    kind = arrays["format"].item()
    kind = kind.decode("ascii", errors="replace") if isinstance(kind, bytes) else str(kind)
    parts = ("row", "col") if kind == "coo" else ("indices", "indptr")
    what = f"{label}: the matrix"
    if kind not in _KINDS or not arrays.keys() >= set(parts):
        raise InputError("", what, "in the format csr, csc or coo with its parts", got=f"{shown(kind)} with {listed}")
    matrix = sparse_matrix(what, kind, arrays["shape"], arrays["data"], *(arrays[part] for part in parts))
    return array_features(label, "the matrix", matrix)


def array_features(label: str, name: str, matrix: Any) -> Features:
    """From a numpy array or a scipy CSR matrix, whose values are replaced."""
    what = f"{label}: {name}"
    if matrix.ndim != 2:
        raise InputError("", what, "a matrix with a row for each node", got=f"shape {matrix.shape}")
    if not matrix.shape[1]:  # such a matrix has no bytes, however many nodes it declares
        raise InputError("", what, "at least one column", got=f"shape {matrix.shape}", verb="have")
    if matrix.dtype.kind not in "iufb":
        hint = "Encode words as numbers first."
        raise InputError("", what, "real numbers", got=f"dtype {matrix.dtype}", hint=hint, verb="hold")

    def place(row: int, column: int) -> str:
        return f"{what} in row {row}, column {column} (from 0)"

    if not scipy.sparse.issparse(matrix):
        return Features(label, matrix.shape[0], [Dense(as_float32(matrix, place), place)])
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = as_float32(matrix.data[:, None], lambda entry, _: place(int(rows[entry]), int(matrix.indices[entry])))
    matrix.data = values[:, 0]
    return Features(label, matrix.shape[0], [Sparse(matrix, np.zeros(matrix.shape[0], dtype=bool), place)], sparse=True)


def sparse_matrix(label: str, kind: str, shape: Any, data: Any, *index: Any) -> Any:
    """A CSR matrix from the parts of one of any kind, checked: scipy's kernels do not check indices, and a file may hold any."""
    try:
        rows, columns = (int(n) for n in np.asarray(shape).ravel())
        check_size(label, "a matrix of this shape", 16.0 * (max(rows, 0) + max(columns, 0)))
        matrix = _KINDS[kind]((data, index) if kind == "coo" else (data, *index), shape=(rows, columns))
        if kind != "coo":  # that one checks itself
            check_parts(matrix)
    except InputError:
        raise
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        rule = f"the parts of a {kind.upper()} matrix that fit each other"
        raise InputError("", label, rule, reason=first_line(error)) from None
    matrix = scipy.sparse.csr_array(matrix)
    matrix.sum_duplicates()
    return matrix


def ids_of(label: str, array: Any, nodes: int) -> Any:
    """Ids that come with a numbered graph: distinct integers or strings, one for each node."""
    if array.shape != (nodes,):
        raise InputError(label, "ids", f"one for each of the {nodes} nodes", got=f"shape {array.shape}")
    if not nodes:
        return array
    array = np.array(array.tolist()) if array.dtype == object else array
    if array.dtype.kind not in "iuU":
        raise InputError(label, "ids", "integers or text", got=f"dtype {array.dtype}")
    seen, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise InputError(label, "ids", "distinct", got=f"{shown(seen[counts.argmax()].item())} more than once")
    return np.array(array.tolist(), dtype=object) if array.dtype.kind == "U" else array.astype(np.int64)
