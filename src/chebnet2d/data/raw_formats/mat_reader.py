"""MATLAB files, read by scipy in a process of its own: a damaged one can end that process, or take what memory it is given.

Run as a script: PATH OUT MEMORY SECONDS NAME ... writes the named variables to the numpy archive OUT: plain arrays under their
names, sparse matrices as NAME.data, NAME.indices, NAME.indptr and NAME.shape of their CSC form. It imports nothing of ours.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse


def convert(path: Path, out: Path, names: Sequence[str]) -> None:
    content = scipy.io.loadmat(str(path), variable_names=list(names))
    arrays: dict[str, Any] = {}
    for name in (name for name in names if name in content):
        value = content[name]
        if scipy.sparse.issparse(value):
            matrix = scipy.sparse.csc_array(value)
            matrix.check_format(full_check=True)
            if (matrix.indptr[1:] < matrix.indptr[:-1]).any():  # as in ``sparse_parts``
                raise ValueError(f"the pointers of {name} fall")
            arrays |= {f"{name}.{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
            arrays[f"{name}.shape"] = np.array(matrix.shape)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "iufbU":
            arrays[name] = value
        else:
            raise ValueError(f"{name} is neither an array of numbers nor a sparse matrix")
    np.savez(out, **arrays)


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    for kind, asked in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        allowed = resource.getrlimit(kind)[1]  # of the user's shell, perhaps: a lower limit stays, none can be raised
        limit = asked if allowed == resource.RLIM_INFINITY else min(asked, allowed)
        resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    _limit(int(sys.argv[3]), int(sys.argv[4]))
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[5:])
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
