"""Block files: each is written under a hidden name and renamed when it is whole. Errors of the disk become sentences."""

import errno
import io
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
from chebnet2d.bases.manifest import BasesError, Manifest, block_name
from chebnet2d.bases.sizes import show_bytes

_WRITE = 32 * 2**20  # bytes of a term that are gathered together
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class BlockFile:
    """A block that is being written: a hidden file until ``save``.

    Written by ``pwrite`` and not through a memory map, whose pages would count as this process's memory.
    """

    def __init__(self, manifest: Manifest, index: int, out: Path) -> None:
        start, stop = manifest.blocks[index]
        self.manifest = manifest
        self.path = out / block_name(index)
        self.temporary = out / f".{self.path.name}.{uuid.uuid4().hex[:8]}.tmp"
        self.dtype = np.dtype(manifest.dtype)
        self.largest = float(np.finfo(self.dtype).max)
        self.shape = (manifest.tiles, manifest.degree + 1, manifest.tile, stop - start)
        self.piece = manifest.tile * (stop - start) * self.dtype.itemsize
        stream = io.BytesIO()
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(stream, header)
        self.offset = stream.tell()
        self.descriptor = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            _reserve(self.descriptor, self.offset + manifest.block_bytes[index])
            os.pwrite(self.descriptor, stream.getvalue(), 0)
        except BaseException:
            self.drop()
            raise

    def write(self, degree: int, term: Tensor, rows: Any) -> None:
        """Write one term of the rows that are kept: a piece per tile."""
        tile, width = self.manifest.tile, self.shape[-1]
        group = max(1, _WRITE // (tile * width * 4))  # tiles that are gathered together
        for first in range(0, self.shape[0], group):
            some = rows[first * tile : (first + group) * tile]
            if some[-1] - some[0] == some.size - 1 and (some[1:] > some[:-1]).all():  # consecutive: no copy
                values = term[some[0] : some[-1] + 1]
            else:
                values = term.index_select(0, torch.from_numpy(some).to(term.device))
            low, high = (float(bound) for bound in torch.aminmax(values))
            if not (-self.largest <= low and high <= self.largest):  # so that NaN is caught too
                raise InputError(
                    "precompute",
                    "the terms",
                    str(self.manifest.dtype),
                    got=f"{low:g} to {high:g} at degree {degree}",
                    hint="Scale the features (see chebnet2d.data.standardize) or take float32 and the Chebyshev basis.",
                    verb="fit",
                )
            stored = values.cpu().to(torch.float16 if self.manifest.dtype == "float16" else torch.float32).contiguous().numpy()
            content = stored.reshape(-1).view(np.uint8).data
            for number in range(-(-len(some) // tile)):
                piece = content[number * self.piece : (number + 1) * self.piece]
                place = self.offset + ((first + number) * self.shape[1] + degree) * self.piece
                while piece:
                    written = os.pwrite(self.descriptor, piece, place)
                    piece, place = piece[written:], place + written

    def save(self) -> None:
        """Wait until it is on the disk, then give it its name."""
        try:
            os.fsync(self.descriptor)
        except BaseException:
            self.drop()
            raise
        os.close(self.descriptor)
        self.temporary.replace(self.path)

    def drop(self) -> None:
        os.close(self.descriptor)
        self.temporary.unlink(missing_ok=True)


def _reserve(descriptor: int, size: int) -> None:
    """Reserve the space of the file, where the file system can: a full disk is found before the computation."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno in _FULL:
            raise
        os.ftruncate(descriptor, size)
    except AttributeError:  # not on this system
        os.ftruncate(descriptor, size)


@contextmanager
def new_block(manifest: Manifest, index: int, out: Path) -> Iterator[BlockFile]:
    """A block file to write to, deleted if anything fails. The caller saves it afterwards."""
    with disk_errors(out):
        block = BlockFile(manifest, index, out)
        try:
            yield block
        except BaseException:
            block.drop()
            raise


@contextmanager
def disk_errors(out: Path) -> Iterator[None]:
    """Turn an ``OSError`` of the folder into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise BasesError(
                "precompute",
                f"the disk of {out}",
                "room for the bases",
                reason=error.strerror,
                hint="Free some space and call it again: finished blocks are kept.",
                verb="have",
            ) from None
        raise BasesError("precompute", str(out), "writable", reason=str(error.strerror or error)) from None


def check_space(manifest: Manifest, out: Path, missing: Sequence[int]) -> None:
    """Whether the disk has room for the blocks that are missing."""
    needed = sum(manifest.block_bytes[index] for index in missing)
    free = shutil.disk_usage(out).free
    if needed > free:
        raise BasesError(
            "precompute",
            f"the disk of {out}",
            f"{show_bytes(needed)} free for the bases",
            got=show_bytes(free),
            hint="Keep fewer rows, or use float16.",
            verb="have",
        )
