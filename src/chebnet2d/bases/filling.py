"""A folder of bases is filled: blocks of columns that are missing are computed, in as much memory as there is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chebnet2d._checks import InputError
from chebnet2d._sizes import free_bytes, resident_bytes, show_bytes
from chebnet2d.bases.bases import Bases
from chebnet2d.bases.blocks import check_space
from chebnet2d.bases.columns import BlockComputation
from chebnet2d.bases.folder import begin, finish, locked, missing_blocks, write_beside
from chebnet2d.bases.inputs import Inputs
from chebnet2d.bases.manifest import BasesError
from chebnet2d.bases.marks import MARK_BYTES
from chebnet2d.bases.recurrence import buffers_needed
from chebnet2d.bases.reuse import Reuse
from chebnet2d.cluster import Executor, LocalExecutor
from chebnet2d.graph import SparseOperator

WIDEST = 64
"""Columns of a block at most: wider ones are not faster, and more is lost when the work is interrupted."""
_CPU = torch.device("cpu")
_SLACK = 192 * 2**20  # rows that are being written, and what the libraries need


@dataclass(frozen=True)
class PrecomputeProgress:
    """Columns x terms done and in all, and the block they are of: after every term, or after every block of another process."""

    done: int
    total: int
    block: int
    blocks: int


def fill(
    inputs: Inputs,
    out: Path,
    block: int,
    *,
    device: torch.device = _CPU,
    executor: Executor | None = None,
    progress: Callable[[PrecomputeProgress], None] | None = None,
    beside: Mapping[str, str] | None = None,
    marks: Any = None,
    reuse: Reuse | None = None,
) -> Bases:
    """The bases in ``out``, all blocks of them. See ``precompute``.

    Args:
        marks: of the nodes, where they are known already.
        reuse: rows that are there already; without, all are computed.
    """
    executor, beside = LocalExecutor() if executor is None else executor, beside or {}
    with locked(out):
        if (found := finished(out, beside)) is not None:  # by the process that had the lock
            return found
        manifest = begin(inputs, out, block)
        missing = missing_blocks(manifest, out)
        check_space(manifest, out, missing)
        write_beside(inputs, marks, out, beside)
        marks = None
        common = BlockComputation(inputs._replace(manifest=manifest, labels=None, parts=None, ids=None), out, device, reuse)
        widths = [stop - start for start, stop in manifest.blocks]
        terms = [0 if index in missing else manifest.degree + 1 for index in range(len(widths))]  # done, of each block

        def report(index: int, done: int) -> None:
            if progress is not None and terms[index] != done:  # else it was said from inside the task
                terms[index] = done
                total = (manifest.degree + 1) * manifest.features
                progress(PrecomputeProgress(int(np.dot(widths, terms)), total, index, len(widths)))

        with common.saving_behind():
            tasks = [(index, (index,)) for index in missing]
            for index, _ in executor.run(BlockComputation.compute, tasks, shared=common, report=report):
                report(index, manifest.degree + 1)
        finish(manifest, out)
    return Bases.open(out)


def finished(out: Path, beside: Mapping[str, str]) -> Bases | None:
    """The bases, if the folder is whole; None if there is something to do."""
    if not (out / "manifest.json").is_file():
        return None
    try:
        bases = Bases.open(out)
        return bases if all((out / name).read_text(encoding="utf-8") == text for name, text in beside.items()) else None
    except (BasesError, OSError, UnicodeDecodeError):  # a file is damaged or gone: it is written again
        return None


def widest(inputs: Inputs, limit: int | None) -> int:
    """How many columns fit into the memory, at most ``WIDEST``."""
    held = resident_bytes()
    if isinstance(inputs.features, SparseOperator):
        held += 12 * inputs.features.nnz  # for the copy of them by columns
    room = free_bytes() // 2 if limit is None else limit - held
    each = 4 * inputs.manifest.nodes * buffers_needed(inputs.basis)
    width = (room - _SLACK) // each
    least = max(each, MARK_BYTES * inputs.manifest.nodes)  # marks are gone before the first block is computed
    if room - _SLACK < least:
        needed, used = show_bytes(held + _SLACK + least), show_bytes(held)
        rule = f"at least {needed} for this graph, of which {used} are in use already"
        raise InputError("precompute", "memory", rule, got=show_bytes(held + room))
    return min(int(width), WIDEST)
