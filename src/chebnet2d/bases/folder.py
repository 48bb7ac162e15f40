"""A folder of bases while it is written: one writer at a time, whose it is, what is planned, when it is whole."""

import io
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d._targets import lock_handle, sync_folder, written_whole
from chebnet2d.bases.blocks import disk_errors, has_block
from chebnet2d.bases.inputs import Inputs
from chebnet2d.bases.manifest import BasesError, Manifest, OtherBasesError, block_name, read_manifest, write_manifest
from chebnet2d.bases.marks import FILE as MARKS
from chebnet2d.bases.marks import marks_of

_LINE = 16  # numbers in a line of the cache
_LITTER = re.compile(r"\.(block-\d+\.npy|(rows|labels|parts|marks)\.npy|\w+\.json)\.\w+\.tmp")  # files that were being written


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Make the folder and lock it. The system removes the lock when the process ends, in whatever way."""
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not lock_handle(descriptor):
            raise BasesError("precompute", str(out), "one writer", got="another process at work in it", verb="have")
        yield
    finally:
        os.close(descriptor)


def missing_blocks(manifest: Manifest, out: Path) -> list[int]:
    return [index for index in range(len(manifest.blocks)) if not has_block(manifest, index, out)]


def refuse_other(manifest: Manifest, out: Path) -> None:
    """Raise if the folder holds other bases, or other files."""
    if out.exists() and not out.is_dir():
        raise BasesError("precompute", str(out), "a folder", got="a file")
    found = read_manifest(out / "manifest.json") or read_manifest(out / "plan.json")
    if found is not None:
        different = manifest.difference(found)
        if different:
            hint = "Name another folder, or delete this one."
            raise OtherBasesError("precompute", str(out), different, hint=hint, verb="hold")
    elif out.is_dir() and any(path.name != ".lock" and not _LITTER.fullmatch(path.name) for path in out.iterdir()):
        raise BasesError("precompute", str(out), "a new or empty folder, or one with these bases", got="other files in it")


def begin(inputs: Inputs, out: Path, widest: int) -> Manifest:
    """Plan the blocks: those of an interrupted call if they are narrow enough, else new ones. The caller has the lock.

    The plan is the first file: from then on the folder is known to be ours, whenever the work stops.
    """
    with disk_errors(out):
        for path in out.iterdir():  # of a killed process: nobody else writes here now
            if _LITTER.fullmatch(path.name):
                path.unlink()
        if (out / "manifest.json").is_file():  # of damaged bases, which are repaired
            (out / "manifest.json").replace(out / "plan.json")
        found = read_manifest(out / "plan.json")
        if found is not None and (found.widest <= widest or not missing_blocks(found, out)):
            return found
        for path in out.glob("block-*.npy"):
            path.unlink()
        sync_folder(out)  # no block of the old plan must be taken for one of the new plan
        features = inputs.manifest.features
        count = -(-features // widest)
        width = -(-features // count)
        if widest >= _LINE:  # rows that begin with a line of the cache
            width = min(widest // _LINE, -(-width // _LINE)) * _LINE
        blocks = [[start, min(start + width, features)] for start in range(0, features, width)]
        manifest = replace(inputs.manifest, blocks=blocks)
        write_manifest(manifest, out / "plan.json")
    return manifest


def write_beside(inputs: Inputs, marks: Any, out: Path, beside: Mapping[str, str]) -> None:
    """The small files, each whole, unless it is there with this content already. ``marks``: None, where they are to be made."""
    if marks is None:
        marks = marks_of(inputs.matrix, inputs.features, inputs.ids)
    with disk_errors(out):
        for name, array in (("rows", inputs.rows), ("labels", inputs.labels), ("parts", inputs.parts)):
            if array is not None:
                stream = io.BytesIO()
                np.save(stream, array, allow_pickle=False)
                _write(out / f"{name}.npy", stream.getvalue())
        for name, text in beside.items():
            _write(out / name, text.encode())
        with written_whole(out / MARKS) as temporary, temporary.open("wb") as file:  # 24 bytes a node: no second copy in memory
            header = {"descr": np.lib.format.dtype_to_descr(marks.dtype), "fortran_order": False, "shape": marks.shape}
            np.lib.format.write_array_header_1_0(file, header)
            file.write(marks.data)  # unlike numpy's own way, it says in which way a disk has failed


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    with written_whole(path) as temporary:
        temporary.write_bytes(content)


def finish(manifest: Manifest, out: Path) -> None:
    """The plan becomes the manifest, by one rename: from now on the folder is whole."""
    if missing := missing_blocks(manifest, out):
        got = f"no {block_name(missing[0])}"
        raise BasesError("precompute", str(out), f"all {len(manifest.blocks)} blocks", got=got, verb="have")
    with disk_errors(out):
        sync_folder(out)
        (out / "plan.json").replace(out / "manifest.json")
        sync_folder(out)
