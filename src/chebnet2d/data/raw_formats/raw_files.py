"""What the readers share: opening a raw file of a known kind, with one sentence when it is not that."""

import pickle
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.data.raw_formats.unpickler import load_object_npy

_BROKEN = (
    OSError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    EOFError,
    MemoryError,
    NotImplementedError,
    OverflowError,
    pickle.UnpicklingError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def reading(path: Path, rule: str) -> Iterator[None]:
    """Everything that goes wrong inside is said as: this file must be that, got this."""
    try:
        yield
    except InputError:
        raise
    except _BROKEN as error:
        reason = " ".join(str(error).split())[:150] or "nothing that explains it"
        raise InputError("load", str(path), rule, got=f"{type(error).__name__}: {reason}") from None


def broken(path: Path, rule: str, got: str) -> InputError:
    return InputError("load", str(path), rule, got=got, verb="")


def read_npz(path: Path, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Arrays of an .npz file. Object arrays are pickles: required ones are an error, optional ones are left out."""
    # Opened here, because numpy leaves the file of a broken archive open.
    with (
        reading(path, "a numpy archive of plain arrays"),
        path.open("rb") as stream,
        np.load(stream, allow_pickle=False) as archive,
    ):
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
    from scipy.io import loadmat

    with reading(path, "a MATLAB file (version 5 to 7.2)"):
        content: dict[str, Any] = loadmat(str(path), variable_names=required)
    missing = [key for key in required if key not in content]
    if missing:
        raise broken(path, f"have the variables {', '.join(required)}", f"no {', '.join(missing)}")
    return content


def linkx_masks(folder: Path, nodes: int) -> dict[str, Any] | None:
    """The fixed splits of LINKX, if the folder has a ``*-splits.npy``: N x S masks."""
    path = next(iter(sorted(folder.glob("*-splits.npy"))), None)
    if path is None:
        return None
    with reading(path, "a list of splits with train, valid and test indices"):
        splits = load_object_npy(path)
        masks = {part: np.zeros((nodes, len(splits)), dtype=bool) for part in ("train", "val", "test")}
        for s, split in enumerate(splits):
            for part, key in (("train", "train"), ("val", "valid"), ("test", "test")):
                index = np.asarray(split[key], dtype=np.int64)
                if index.size and (index.min() < 0 or index.max() >= nodes):
                    raise broken(path, f"hold node indices from 0 to {nodes - 1}", f"{int(index.max())} in split {s}")
                masks[part][index, s] = True
    return masks
