"""A folder of bases while it is written: one writer at a time, whose it is, what is planned, when it is whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from chebnet2d.bases.blocks import disk_errors
from chebnet2d.bases.inputs import Inputs
from chebnet2d.bases.manifest import BasesError, Manifest, block_name, read_manifest, write_manifest

_LINE = 16  # numbers in a line of the cache


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Make the folder and lock it. The system removes the lock when the process ends, in whatever way."""
    import fcntl

    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BasesError("precompute", str(out), "one writer", got="another process at work in it", verb="have") from None
        yield
    finally:
        os.close(descriptor)


def missing_blocks(manifest: Manifest, out: Path) -> list[int]:
    return [index for index in range(len(manifest.blocks)) if not (out / block_name(index)).is_file()]


def refuse_other(manifest: Manifest, out: Path) -> None:
    """Raise if the folder holds other bases, or other files."""
    if out.exists() and not out.is_dir():
        raise BasesError("precompute", str(out), "a folder", got="a file")
    found = read_manifest(out / "manifest.json") or read_manifest(out / "plan.json")
    if found is not None:
        different = manifest.difference(found)
        if different:
            hint = "Name another folder, or delete this one."
            raise BasesError("precompute", str(out), different, hint=hint, verb="hold")
    elif out.is_dir() and any(path.name != ".lock" for path in out.iterdir()):
        raise BasesError("precompute", str(out), "a new or empty folder, or one with these bases", got="other files in it")


def begin(inputs: Inputs, out: Path, widest: int) -> Manifest:
    """Plan the blocks: those of an interrupted call if they are narrow enough, else new ones. The caller has the lock."""
    for path in out.glob(".block-*.tmp"):  # of a killed process: nobody else writes here now
        path.unlink()
    found = read_manifest(out / "plan.json")
    if found is not None and max(stop - start for start, stop in found.blocks) <= widest:
        return found
    for path in out.glob("block-*.npy"):
        path.unlink()
    features = inputs.manifest.features
    count = -(-features // widest)
    width = -(-features // count)
    if widest >= _LINE:  # rows that begin with a line of the cache
        width = min(widest // _LINE, -(-width // _LINE)) * _LINE
    blocks = [[start, min(start + width, features)] for start in range(0, features, width)]
    manifest = replace(inputs.manifest, blocks=blocks)
    with disk_errors(out):
        for name, array in (("rows", inputs.rows), ("labels", inputs.labels), ("parts", inputs.parts)):
            if array is not None:
                np.save(out / f"{name}.npy", array, allow_pickle=False)
        write_manifest(manifest, out / "plan.json")
    return manifest


def finish(manifest: Manifest, out: Path) -> None:
    """Write the manifest: from now on the folder is whole."""
    if missing := missing_blocks(manifest, out):
        got = f"no {block_name(missing[0])}"
        raise BasesError("precompute", str(out), f"all {len(manifest.blocks)} blocks", got=got, verb="have")
    with disk_errors(out):
        write_manifest(manifest, out / "manifest.json")
    (out / "plan.json").unlink(missing_ok=True)
