"""A folder of bases while it is written: whose it is, what is planned, when it is whole."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from chebnet2d.bases.blocks import disk_errors
from chebnet2d.bases.inputs import Inputs
from chebnet2d.bases.manifest import BasesError, Manifest, block_name, read_manifest, write_manifest

_LINE = 16  # numbers in a line of the cache


def is_finished(out: Path) -> bool:
    return (out / "manifest.json").is_file()


def missing_blocks(manifest: Manifest, out: Path) -> list[int]:
    return [index for index in range(len(manifest.blocks)) if not (out / block_name(index)).is_file()]


def refuse_other(manifest: Manifest, out: Path) -> None:
    """Raise if the folder holds other bases, or other files."""
    if out.exists() and not out.is_dir():
        raise BasesError("precompute", str(out), "a folder", got="a file")
    for name in ("manifest.json", "plan.json"):
        found = read_manifest(out / name)
        if found is not None:
            different = manifest.difference(found)
            if different:
                raise BasesError(
                    "precompute", str(out), str(different), hint="Name another folder, or delete this one.", verb="hold"
                )
            return
    if out.is_dir() and any(path.name != ".lock" for path in out.iterdir()):
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
    missing = missing_blocks(manifest, out)
    if missing:
        raise BasesError(
            "precompute", str(out), f"all {len(manifest.blocks)} blocks", got=f"no {block_name(missing[0])}", verb="have"
        )
    with disk_errors(out):
        write_manifest(manifest, out / "manifest.json")
    (out / "plan.json").unlink(missing_ok=True)
