"""Block files: each is written under a hidden name and renamed when it is whole. Errors of the disk become sentences."""

import errno
import io
import math
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._sizes import show_bytes
from chebnet2d._targets import sync_folder
from chebnet2d.bases.arrays import BROKEN_ARRAY, map_array
from chebnet2d.bases.manifest import BasesError, Manifest, block_name

_WRITE = 32 * 2**20  # bytes of a term that are gathered together
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class BlockFile:
    """A block that is being written: a hidden file until ``save``.

    Written by ``pwrite`` and not through a memory map, whose pages would count as this process's memory.
    """

    def __init__(self, manifest: Manifest, index: int, out: Path) -> None:
        self.manifest = manifest
        self.path = out / block_name(index)
        self.temporary = out / f".{self.path.name}.{uuid.uuid4().hex[:8]}.tmp"
        self.dtype = np.dtype(manifest.dtype)
        self.shape = manifest.block_shapes[index]
        self.piece = manifest.tile * self.shape[-1] * self.dtype.itemsize
        self.descriptor = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)

    def begin(self) -> None:
        """Reserve the space, where the file system can, so that a full disk is found before the computation; write the header."""
        stream = io.BytesIO()
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(stream, header)
        self.offset = stream.tell()
        size = self.offset + math.prod(self.shape) * self.dtype.itemsize
        try:
            os.posix_fallocate(self.descriptor, 0, size)
        except (AttributeError, OSError) as error:  # not on this system, or not on this disk
            if isinstance(error, OSError) and error.errno in _FULL:
                raise
            os.ftruncate(self.descriptor, size)
        _write_at(self.descriptor, memoryview(stream.getvalue()), 0)

    def write(self, degree: int, term: Tensor, rows: Any) -> None:
        """Write one term of the rows that are kept: a piece per tile."""
        tile, width, largest = self.manifest.tile, self.shape[-1], float(np.finfo(self.dtype).max)
        group = max(1, _WRITE // (tile * width * 4))  # tiles that are gathered together
        for first in range(0, self.shape[0], group):
            some = rows[first * tile : (first + group) * tile]
            if some[-1] - some[0] == some.size - 1 and (some[1:] > some[:-1]).all():  # consecutive: no copy
                values = term[some[0] : some[-1] + 1]
            else:
                values = term.index_select(0, torch.from_numpy(some).to(term.device))
            low, high = (float(bound) for bound in torch.aminmax(values))
            if not (-largest <= low and high <= largest):  # so that NaN is caught too
                got = f"{low:g} to {high:g} at degree {degree}"
                hint = "Scale the features (see chebnet2d.data.standardize) or take float32 and the Chebyshev basis."
                raise InputError("precompute", "the terms", self.manifest.dtype, got=got, hint=hint, verb="fit")
            stored = values.cpu().to(getattr(torch, self.manifest.dtype)).contiguous().numpy()
            content = stored.reshape(-1).view(np.uint8).data
            for number in range(-(-len(some) // tile)):
                piece = content[number * self.piece : (number + 1) * self.piece]
                place = self.offset + ((first + number) * self.shape[1] + degree) * self.piece
                while piece:
                    written = _write_at(self.descriptor, piece, place)
                    piece, place = piece[written:], place + written

    def save(self) -> None:
        """Wait until it is on the disk, then give it its name."""
        try:
            os.fsync(self.descriptor)
            self.temporary.replace(self.path)
            sync_folder(self.path.parent)
        finally:
            self.close()

    def close(self) -> None:
        """It is gone, unless it was saved."""
        os.close(self.descriptor)
        self.temporary.unlink(missing_ok=True)


@contextmanager
def new_block(manifest: Manifest, index: int, out: Path) -> Iterator[BlockFile]:
    """A block file to write to, deleted if anything fails. The caller saves it afterwards."""
    with disk_errors(out):
        block = BlockFile(manifest, index, out)
        try:
            block.begin()
            yield block
        except BaseException:
            block.close()
            raise


@contextmanager
def disk_errors(out: Path) -> Iterator[None]:
    """Turn an ``OSError`` of the folder into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            disk, hint = f"the disk of {out}", "Free some space and call it again: finished blocks are kept."
            raise BasesError("precompute", disk, "room for the bases", reason=error.strerror, hint=hint, verb="have") from None
        raise BasesError("precompute", str(out), "writable", reason=str(error.strerror or error)) from None


def has_block(manifest: Manifest, index: int, out: Path) -> bool:
    """Whether the block is there, and whole by its header and its length: something else may have truncated it."""
    try:
        found = map_array(out / block_name(index))
    except BROKEN_ARRAY:
        return False
    return bool(found.dtype == np.dtype(manifest.dtype) and found.shape == manifest.block_shapes[index])


def check_space(manifest: Manifest, out: Path, missing: Sequence[int]) -> None:
    """Whether the disk has room for the blocks that are missing."""
    needed = sum(manifest.block_bytes[index] for index in missing)
    free = shutil.disk_usage(out).free
    if needed > free:
        rule, hint = f"{show_bytes(needed)} free for the bases", "Keep fewer rows, or use float16."
        raise BasesError("precompute", f"the disk of {out}", rule, got=show_bytes(free), hint=hint, verb="have")


def _write_at(descriptor: int, piece: memoryview, place: int) -> int:
    """How many bytes were written there."""
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, piece, place)
    os.lseek(descriptor, place, os.SEEK_SET)  # Windows; one thread writes a block
    return os.write(descriptor, piece)
