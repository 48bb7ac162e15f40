"""Features and ids from arrays, checked before anything is computed from them."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.feature_blocks import Dense, Place, Sparse, as_float32
from chebnet2d.data.own_graph.features import Features
from chebnet2d.data.own_graph.numpy_files import NpzFile, load_npy
from chebnet2d.data.own_graph.table import first_line, shown


def read_feature_file(path: Path) -> Features:
    """.npy: an N x F matrix. .npz: a scipy sparse matrix as ``scipy.sparse.save_npz`` writes it, or one matrix ``x``."""
    if path.suffix.lower() == ".npy":
        return dense_features(str(path), "", load_npy(path))
    with NpzFile(path) as file:
        if file.has("format", "shape", "data"):
            return sparse_features(file.label, "", _saved_by_scipy(file))
        name = "x" if file.has("x") else "features" if file.has("features") else None
        if name is None:
            rule = "a sparse matrix (as scipy.sparse.save_npz writes it) or a matrix x"
            raise InputError(file.label, "the archive", rule, got=file.listed(), verb="hold")
        return dense_features(file.label, name, file.array(name))


def dense_features(label: str, name: str, array: Any) -> Features:
    what = f"{label}: {name}" if name else f"{label}: the array"
    if array.ndim != 2:
        raise InputError("", what, "a matrix with a row for each node", got=f"shape {array.shape}")
    if array.dtype.kind not in "iufb":
        raise InputError("", what, "real numbers", got=f"dtype {array.dtype}", hint="Encode words as numbers first.", verb="hold")
    place = _place(what)
    return Features(label, array.shape[0], [Dense(as_float32(array, place), place)])


def sparse_features(label: str, name: str, matrix: Any) -> Features:
    what = f"{label}: {name}" if name else f"{label}: the matrix"
    place = _place(what)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

    def entry_place(entry: int, _: int) -> str:
        return place(int(rows[entry]), int(matrix.indices[entry]))

    matrix.data = as_float32(matrix.data[:, None], entry_place)[:, 0]
    return Features(label, matrix.shape[0], [Sparse(matrix, place)], sparse=True)


def sparse_from_parts(label: str, shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
    """A CSR matrix from its parts, each of them checked: scipy's kernels do not check indices, and a file may hold any."""
    _check_real(label, data)
    try:
        rows, columns = (int(n) for n in np.asarray(shape).ravel())
        matrix = scipy.sparse.csr_array((data, indices, indptr), shape=(rows, columns))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        raise InputError("", label, "the parts of a CSR matrix that fit each other", reason=first_line(error)) from None
    matrix.sum_duplicates()
    return matrix


def _saved_by_scipy(file: NpzFile) -> Any:
    kind = file.array("format").item()
    kind = kind.decode("ascii", errors="replace") if isinstance(kind, bytes) else str(kind)
    shape = file.array("shape")
    label = f"{file.label}: the matrix"
    if kind == "csr" and file.has("indices", "indptr"):
        return sparse_from_parts(label, shape, file.array("data"), file.array("indices"), file.array("indptr"))
    if kind == "csc" and file.has("indices", "indptr"):
        swapped = np.asarray(shape).ravel()[::-1]
        csc = sparse_from_parts(label, swapped, file.array("data"), file.array("indices"), file.array("indptr"))
        return scipy.sparse.csr_array(csc.T)
    if kind == "coo" and file.has("row", "col"):
        return _from_coordinates(label, shape, file.array("data"), file.array("row"), file.array("col"))
    raise InputError("", label, "in the format csr, csc or coo with its parts", got=f"{shown(kind)} with {file.listed()}")


def _from_coordinates(label: str, shape: Any, data: Any, row: Any, col: Any) -> Any:
    _check_real(label, data)
    try:
        rows, columns = (int(n) for n in np.asarray(shape).ravel())
        coo = scipy.sparse.coo_array((data, (row, col)), shape=(rows, columns))
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise InputError("", label, "coordinates that fit each other", reason=first_line(error)) from None
    matrix = scipy.sparse.csr_array(coo)
    matrix.sum_duplicates()
    return matrix


def _check_real(label: str, data: Any) -> None:
    if data.dtype.kind not in "iufb":
        raise InputError("", label, "real numbers", got=f"dtype {data.dtype}", verb="hold")


def _place(what: str) -> Place:
    return lambda row, column: f"{what} in row {row}, column {column} (from 0)"


def ids_of(label: str, array: Any, nodes: int) -> Any:
    """Ids that come with a numbered graph: distinct integers or strings, one for each node."""
    if array.shape != (nodes,):
        raise InputError(label, "ids", f"one for each of the {nodes} nodes", got=f"shape {array.shape}")
    if np.issubdtype(array.dtype, np.integer):
        ids = array.astype(np.int64)
    elif array.dtype.kind == "U":
        ids = np.array(array.tolist(), dtype=object) if nodes else np.zeros(0, dtype=object)
    else:
        raise InputError(label, "ids", "integers or text", got=f"dtype {array.dtype}")
    seen, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise InputError(label, "ids", "distinct", got=f"{shown(seen[counts.argmax()].item())} more than once")
    return ids
