"""Arrays from the pickles of old benchmarks. A pickle is a program; this reads the few forms that hold arrays and runs nothing.

The instructions are carried out here, on lists, dictionaries and records of this module: nothing is imported, no object of
another class is made and none is changed. The arrays are made afterwards from the recorded bytes, with checks. A pickle can name
one thing many times; what comes out of it is bounded by the length of the file, so that a few bytes cannot grow without end.
"""

import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from chebnet2d.data.array_headers import quiet
from chebnet2d.data.sparse_parts import check_parts

_DTYPES = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}
_ORDERS = {"|": "=", "=": "=", "<": "<", ">": ">"}


class RefusedPickle(ValueError):
    """The file asks for something that an array does not need."""


class _Name(str):
    """What an admitted name of another module stands for."""


class _Record:
    """An object that a pickle makes from a name and fills by one state."""

    def __init__(self, kind: str, arguments: Any = ()) -> None:
        self.kind, self.arguments = kind, arguments
        self.state: Any = None


_ADMITTED = {
    ("numpy", "dtype"): "dtype",
    ("numpy", "ndarray"): "array",
    ("numpy.core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy._core.multiarray", "_reconstruct"): "reconstruct",
    ("scipy.sparse.csr", "csr_matrix"): "csr",
    ("scipy.sparse._csr", "csr_matrix"): "csr",
    ("_codecs", "encode"): "encode",
    ("collections", "defaultdict"): "defaultdict",
    ("__builtin__", "list"): "list",
    ("builtins", "list"): "list",
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_VALUES = {  # instructions whose argument is the value
    *(
        "INT",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG",
        "LONG1",
        "LONG4",
        "FLOAT",
        "BINFLOAT",
        "STRING",
        "BINSTRING",
        "SHORT_BINSTRING",
    ),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARK = object()


class _Machine:
    """The stack and the memo of a pickle."""

    def __init__(self, content: bytes) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.left = 2 * len(content) + 64  # bytes and items that may still be made
        self.steps: dict[str, Callable[[Any], None]] = {
            name.removeprefix("_do_").upper(): getattr(self, name) for name in dir(self) if name.startswith("_do_")
        }
        for instruction, argument, _ in pickletools.genops(content):
            self._step(instruction.name, argument)

    def result(self) -> Any:
        if len(self.stack) != 1:
            raise RefusedPickle("no single value")
        return self._made(self.stack[0])

    def _step(self, name: str, argument: Any) -> None:
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _TUPLES:
            count = _TUPLES[name]
            self.stack[len(self.stack) - count :] = [tuple(self._top(count))]
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self.memo[argument] = self._top(1)[0]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self.stack.append(self.memo[argument])
        elif name in self.steps:
            self.steps[name](argument)
        elif name not in ("PROTO", "FRAME", "STOP"):
            raise RefusedPickle(f"the instruction {name}")

    def _top(self, count: int) -> list[Any]:
        found = self.stack[len(self.stack) - count :]
        if len(found) != count or any(one is _MARK for one in found):
            raise RefusedPickle("a stack that is too short")
        return found

    def _pop(self) -> Any:
        (value,) = self._top(1)
        self.stack.pop()
        return value

    def _since_mark(self) -> list[Any]:
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] is _MARK:
                found = self.stack[place + 1 :]
                del self.stack[place:]
                return found
        raise RefusedPickle("a stack without a mark")

    def _do_mark(self, _: Any) -> None:
        self.stack.append(_MARK)

    def _do_pop(self, _: Any) -> None:
        self._pop()

    def _do_memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self._top(1)[0]

    def _do_tuple(self, _: Any) -> None:
        self.stack.append(tuple(self._since_mark()))

    def _do_list(self, _: Any) -> None:
        self.stack.append(self._since_mark())

    def _do_empty_list(self, _: Any) -> None:
        self.stack.append([])

    def _do_empty_dict(self, _: Any) -> None:
        self.stack.append({})

    def _do_dict(self, _: Any) -> None:
        items = self._since_mark()
        self.stack.append({})
        self._fill(items)

    def _do_append(self, _: Any) -> None:
        value = self._pop()
        self._target(list).append(value)

    def _do_appends(self, _: Any) -> None:
        values = self._since_mark()
        self._target(list).extend(values)

    def _do_setitem(self, _: Any) -> None:
        value, key = self._pop(), self._pop()
        self._fill([key, value])

    def _do_setitems(self, _: Any) -> None:
        self._fill(self._since_mark())

    def _fill(self, items: list[Any]) -> None:
        target = self._target(dict)
        if len(items) % 2 or not all(isinstance(key, int | str | bytes) for key in items[::2]):
            raise RefusedPickle("a dictionary with other keys than numbers and texts")
        target.update(zip(items[::2], items[1::2], strict=True))

    def _target(self, kind: type) -> Any:
        (target,) = self._top(1)
        if type(target) is not kind:
            raise RefusedPickle(f"a {type(target).__name__} in the place of a {kind.__name__}")
        return target

    def _do_global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._name(module, name)

    def _do_stack_global(self, _: Any) -> None:
        name, module = self._pop(), self._pop()
        self._name(module, name)

    def _name(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str) or (module, name) not in _ADMITTED:
            raise RefusedPickle(f"the name {module}.{name}"[:100])
        self.stack.append(_Name(_ADMITTED[module, name]))

    def _do_reduce(self, _: Any) -> None:
        arguments, called = self._pop(), self._pop()
        if not isinstance(called, _Name) or not isinstance(arguments, tuple):
            raise RefusedPickle("a call of something else than a name")
        if called == "dtype" and arguments and isinstance(arguments[0], str):
            self.stack.append(_Record("dtype", str(arguments[0])))
        elif called == "reconstruct" and arguments and isinstance(arguments[0], _Name) and arguments[0] == "array":
            self.stack.append(_Record("array"))
        elif called == "encode" and arguments[1:] in ((), ("latin1",)) and isinstance(arguments[0], str):
            self._take(len(arguments[0]))
            self.stack.append(arguments[0].encode("latin1"))  # how protocol 2 of Python 3 writes bytes
        elif called == "defaultdict" and all(isinstance(one, _Name) and one == "list" for one in arguments):
            self.stack.append({})
        else:
            raise RefusedPickle(f"a call of {called} with other arguments than an array has")

    def _do_newobj(self, _: Any) -> None:
        arguments, kind = self._pop(), self._pop()
        if not isinstance(kind, _Name) or kind != "csr" or arguments != ():
            raise RefusedPickle("an object of a foreign class")
        self.stack.append(_Record("csr"))

    def _do_build(self, _: Any) -> None:
        state = self._pop()
        (target,) = self._top(1)
        if not isinstance(target, _Record) or target.state is not None:
            raise RefusedPickle("a change of something else than a new array")
        target.state = state

    def _take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise RefusedPickle("more values than its length can hold")

    def _made(self, item: Any) -> Any:
        self._take(1)
        if isinstance(item, _Record):
            return _MAKERS[item.kind](self, item)
        if isinstance(item, dict):
            return {key: self._made(value) for key, value in item.items()}
        if isinstance(item, list | tuple):
            return [self._made(value) for value in item]
        if isinstance(item, _Name) or not (item is None or isinstance(item, int | float | str | bytes)):
            raise RefusedPickle(f"a value of type {type(item).__name__}")
        return item

    def _array(self, record: _Record) -> Any:
        if not isinstance(record.state, tuple) or len(record.state) != 5:
            raise RefusedPickle("an array without a type or shape")
        _, shape, dtype, fortran, raw = record.state
        sizes = isinstance(shape, tuple) and all(isinstance(size, int) and size >= 0 for size in shape)
        if not sizes or not isinstance(dtype, _Record) or dtype.kind != "dtype" or not isinstance(dtype.state, tuple):
            raise RefusedPickle("an array without a type or shape")
        code = dtype.arguments
        if code in ("O8", "O4", "O"):
            if not isinstance(raw, list):
                raise RefusedPickle("an object array that is no list")
            return self._made(raw)
        if code not in _DTYPES:
            raise RefusedPickle(f"an array of type {code!r}")
        if not isinstance(raw, str | bytes):
            raise RefusedPickle("an array without bytes")
        self._take(len(raw))
        data = raw.encode("latin1") if isinstance(raw, str) else raw  # a string of Python 2 is bytes
        native = np.frombuffer(data, dtype=_ORDERS[dtype.state[1]] + code).astype("=" + code)
        return native.reshape(shape, order="F" if fortran else "C")

    def _csr(self, record: _Record) -> Any:
        state = record.state[0] if isinstance(record.state, tuple) and record.state else record.state
        if not isinstance(state, dict):
            raise RefusedPickle("a sparse matrix without its parts")
        data, indices, indptr = (self._made(state[key]) for key in ("data", "indices", "indptr"))
        shape = state.get("_shape", state.get("shape"))
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise RefusedPickle("a sparse matrix without a shape")
        rows, columns = shape
        if indptr.size != rows + 1 or not 0 <= columns <= 2**31:
            raise RefusedPickle("a sparse matrix of another shape than its parts")
        matrix = scipy.sparse.csr_array((data, indices, indptr), shape=(rows, columns))
        check_parts(matrix)
        return matrix

    def _no_value(self, record: _Record) -> Any:
        raise RefusedPickle(f"a value of type {record.kind}")


_MAKERS = {"array": _Machine._array, "csr": _Machine._csr, "dtype": _Machine._no_value}


def load_arrays(source: Path | bytes) -> Any:
    """Arrays, sparse matrices, numbers, texts, and lists and dictionaries of them. Anything else is a ``RefusedPickle``."""
    with quiet():  # pickletools warns of odd escapes in texts
        return _Machine(source if isinstance(source, bytes) else source.read_bytes()).result()


def load_object_npy(path: Path) -> Any:
    """The list in an .npy file with an object array, whose payload is a pickle."""
    with path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        with quiet():
            _shape, _fortran, dtype = header(stream)
        if not dtype.hasobject:
            raise RefusedPickle(f"an array of type {dtype}, not of objects")
        return load_arrays(stream.read())
