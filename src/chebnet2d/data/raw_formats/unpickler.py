"""Arrays from the pickles of old benchmarks. A pickle is a program; this reads the few forms that hold arrays and runs nothing.

The usual restricted unpickler lets numpy and scipy rebuild their own objects. Here not even that happens: the names which
such files may contain are mapped to plain recorders of this module, and the arrays are made afterwards from the recorded
bytes, with checks. Any other name is refused before anything is called.
"""

import io
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

_DTYPES = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}


class RefusedPickle(ValueError):
    """The file asks for something that an array does not need."""


class _Dtype:
    def __init__(self, code: Any = None, *_flags: Any) -> None:
        self.code, self.order = str(code), "="

    def __setstate__(self, state: Any) -> None:
        self.order = {"|": "=", "=": "=", "<": "<", ">": ">"}[state[1]]


class _Recorder:
    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_Recorder):
    def value(self) -> Any:
        _, shape, dtype, fortran, raw = self.state
        if not isinstance(dtype, _Dtype) or not all(isinstance(size, int) and size >= 0 for size in shape):
            raise RefusedPickle("an array without a type or shape")
        if dtype.code in ("O8", "O4", "O"):
            if not isinstance(raw, list):
                raise RefusedPickle("an object array that is no list")
            return [_rebuilt(item) for item in raw]
        if dtype.code not in _DTYPES:
            raise RefusedPickle(f"an array of type {dtype.code!r}")
        data = raw.encode("latin1") if isinstance(raw, str) else bytes(raw)  # a string of Python 2 is bytes
        native = np.frombuffer(data, dtype=dtype.order + dtype.code).astype("=" + dtype.code)
        return native.reshape(tuple(shape), order="F" if fortran else "C")


class _Csr(_Recorder):
    def value(self) -> Any:
        state = self.state[0] if isinstance(self.state, tuple) else self.state
        data, indices, indptr = (_rebuilt(state[key]) for key in ("data", "indices", "indptr"))
        shape = state.get("_shape", state.get("shape"))
        matrix = scipy.sparse.csr_array((data, indices, indptr), shape=tuple(int(size) for size in shape))
        matrix.check_format(full_check=True)  # indices out of range would be read outside of the arrays later
        return matrix


def _reconstruct(kind: Any, _shape: Any = None, _code: Any = None) -> Any:
    if kind is not _Array:
        raise RefusedPickle("an array of a foreign class")
    return _Array()


def _encode(text: str, encoding: str = "latin1") -> bytes:  # how protocol 2 of Python 3 writes bytes
    if encoding != "latin1":
        raise RefusedPickle(f"bytes in the encoding {encoding!r}")
    return text.encode("latin1")


_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("_codecs", "encode"): _encode,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise RefusedPickle(f"the name {module}.{name}") from None

    def persistent_load(self, _identity: Any) -> Any:
        raise RefusedPickle("a persistent identity")


def _rebuilt(item: Any) -> Any:
    if isinstance(item, _Array | _Csr):
        return item.value()
    if isinstance(item, dict):
        return {key: _rebuilt(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_rebuilt(value) for value in item]
    if item is None or isinstance(item, int | float | str | bytes):
        return item
    raise RefusedPickle(f"a value of type {type(item).__name__}")


def load_arrays(source: Path | bytes) -> Any:
    """Arrays, sparse matrices, numbers, texts, and lists and dictionaries of them. Anything else is a ``RefusedPickle``."""
    stream = io.BytesIO(source if isinstance(source, bytes) else source.read_bytes())
    return _rebuilt(_ArrayUnpickler(stream, encoding="latin1").load())


def load_object_npy(path: Path) -> Any:
    """The list in an .npy file with an object array, whose payload is a pickle."""
    with path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        _shape, _fortran, dtype = header(stream)
        if not dtype.hasobject:
            raise RefusedPickle(f"an array of type {dtype}, not of objects")
        return load_arrays(stream.read())
