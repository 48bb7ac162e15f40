"""What raw formats share: opening a file of a known kind, with one error sentence when it is of another kind."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from chebnet2d._checks import InputError
from chebnet2d.data.array_headers import check_archive, quiet
from chebnet2d.data.broken_files import BROKEN
from chebnet2d.data.raw_formats import mat_reader
from chebnet2d.data.reading_limit import reading_limit

_MAX_COLUMNS = 4096
_LIBRARIES = 2**30  # bytes of address space that the reader of MATLAB files takes before it reads
_SECONDS = 600  # of one processor, to read a MATLAB file
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # each thread has a stack in the address space


@contextmanager
def reading(path: Path, rule: str) -> Iterator[None]:
    """Turns every error inside into one sentence: this file must be that, got this."""
    try:
        yield
    except InputError:
        raise
    except BROKEN as error:
        reason = " ".join(str(error).split())[:150].rstrip(".") or "nothing that explains it"
        raise InputError("load", str(path), rule, got=f"{type(error).__name__}: {reason}") from None


def broken(path: Path, rule: str, got: str) -> InputError:
    return InputError("load", str(path), rule, got=got, verb="")


def node_mask(path: Path, index: Any, nodes: int) -> Any:
    """N booleans, True at the indices that the file lists."""
    index = np.asarray(index, dtype=np.int64)
    if index.size and (index.min() < 0 or index.max() >= nodes):
        raise broken(path, f"hold node indices from 0 to {nodes - 1}", f"{int(index.max())}")
    mask = np.zeros(nodes, dtype=bool)
    mask[index] = True
    return mask


def read_npz(path: Path, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Arrays of an .npz file. Object arrays are pickles: required ones are an error, optional ones are left out."""
    # Opened here, because numpy leaves the file of a broken archive open.
    with (
        reading(path, "a numpy archive of plain arrays"),
        quiet(),
        path.open("rb") as stream,
        np.load(stream, allow_pickle=False) as archive,
    ):
        check_archive(str(path), archive, (*required, *optional))
        missing = [key for key in required if key not in archive.files]
        if missing:
            raise broken(path, f"have the arrays {', '.join(required)}", f"no {', '.join(missing)}")
        arrays = {key: archive[key] for key in required}
        for key in optional:
            if key in archive.files:
                try:
                    arrays[key] = archive[key]
                except ValueError:  # an object array
                    continue
    return arrays


def read_mat(path: Path, required: tuple[str, ...]) -> dict[str, Any]:
    """The variables of a MATLAB file, by a process of its own with limits of memory and time: see ``mat_reader``."""
    with tempfile.TemporaryDirectory(prefix="chebnet2d-") as folder:
        out = Path(folder) / "content.npz"
        limits = [str(_LIBRARIES + reading_limit()), str(_SECONDS)]
        command = [sys.executable, "-P", mat_reader.__file__, str(path), str(out), *limits, *required]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**os.environ, **_ONE_THREAD})
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or [""])[-1][:150].rstrip(".")
            ended = f"signal {-done.returncode} in the process that read it" if done.returncode < 0 else said
            raise InputError("load", str(path), "a MATLAB file (version 5 to 7.2)", got=ended)
        content = mat_content(out, required)
    missing = [key for key in required if key not in content]
    if missing:
        raise broken(path, f"have the variables {', '.join(required)}", f"no {', '.join(missing)}")
    return content


def mat_content(archive: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """What ``mat_reader`` wrote: arrays and sparse matrices."""
    content: dict[str, Any] = {}
    with np.load(archive, allow_pickle=False) as arrays:
        for name in names:
            if name in arrays.files:
                content[name] = arrays[name]
            elif f"{name}.data" in arrays.files:
                *parts, shape = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr", "shape"))
                content[name] = scipy.sparse.csc_array(tuple(parts), shape=tuple(shape.tolist()))
    return content


def read_csv(path: Path, types: dict[str, Any] | None, dtype: str = "") -> Any:
    """A table by pyarrow: many cores, no loop in Python; a broken line is named in the error."""
    import pyarrow as pa
    from pyarrow import csv

    if types is None:  # columns are called f0, f1, ...; a type for a name that does not occur is ignored
        read = csv.ReadOptions(autogenerate_column_names=True)
        convert = csv.ConvertOptions(column_types={f"f{c}": pa.type_for_alias(dtype) for c in range(_MAX_COLUMNS)})
    else:
        read = csv.ReadOptions()
        convert = csv.ConvertOptions(column_types=types, include_columns=list(types))
    try:
        return csv.read_csv(path, read_options=read, convert_options=convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as first:
        error = first
        try:  # on one core: then the message has the number of the line
            read.use_threads = False
            csv.read_csv(path, read_options=read, convert_options=convert)
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as second:
            error = second
        reason = " ".join(str(error).split())[:150]
        raise InputError("load", str(path), "a CSV file in the format of its dataset", got=reason) from None
