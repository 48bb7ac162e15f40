"""P_d = p_d(M) X in blocks of columns. Columns are independent of each other, so a block needs N x b buffers and nothing more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chebnet2d._checks import InputError, integer
from chebnet2d._device import checked_device
from chebnet2d._sizes import free_bytes, parse_bytes, resident_bytes, show_bytes
from chebnet2d.bases.bases import Bases
from chebnet2d.bases.blocks import check_space
from chebnet2d.bases.columns import BlockComputation
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.bases.folder import begin, finish, locked, missing_blocks, refuse_other, write_beside
from chebnet2d.bases.inputs import BasesSpec, Inputs, read_inputs
from chebnet2d.bases.manifest import BasesError
from chebnet2d.bases.recurrence import buffers_needed
from chebnet2d.cluster import Executor, LocalExecutor, checked_executor
from chebnet2d.graph import SparseOperator

WIDEST = 64
"""Columns of a block at most: wider ones are not faster, and more is lost when the work is interrupted."""
_SLACK = 192 * 2**20  # rows that are being written, and what the libraries need


@dataclass(frozen=True)
class PrecomputeProgress:
    """Columns x terms done and in all, and the block they are of: after every term, or after every block of another process."""

    done: int
    total: int
    block: int
    blocks: int


def precompute(
    graph: Any,
    x: Any = None,
    *,
    out: str | Path,
    spec: BasesSpec | None = None,
    memory: int | str | None = None,
    block: int | None = None,
    device: str | torch.device = "cpu",
    executor: Executor | None = None,
    progress: Callable[[PrecomputeProgress], None] | None = None,
    beside: Mapping[str, str] | None = None,
    **spec_fields: Any,
) -> Bases:
    """Compute P_d = p_d(M) X for d = 0..degree and keep the rows asked for in the folder ``out``.

    A call that was interrupted, even killed, is continued by the same call: finished blocks of columns are kept. A folder that
    holds these bases is opened at once; one that holds others (of another graph, degree, dtype, ...) is refused.

    Args:
        graph: a ``Data`` (x, edge_index, perhaps edge_weight, y and masks), or M itself as a ``SparseOperator``.
        x: N x F, dense or sparse; default: that of the data. Sparse features are made dense by blocks of columns only.
        spec: which bases. Its fields may also be given here by name: ``precompute(data, out="bases", degree=4)``.
        memory: what a process may hold at most, the graph and all it has already included ("8GiB", or bytes); default: half of
            what the system has free beyond it. The width of the blocks follows from it.
        block: columns of a block, where ``memory`` should not decide.
        device: where the products are computed.
        executor: of ``chebnet2d.cluster``, where the blocks are computed; default: in this process. Other machines must share the
            disk of ``out``. The graph and the features are sent to each process once; this process alone writes the manifest.
        beside: texts of other small files, by name, that belong into the folder before it counts as whole.
    """
    where = checked_device("precompute", device)
    limit = None if memory is None else parse_bytes(memory, "precompute")
    if block is not None:
        integer("precompute", "block", block, 1)
    inputs = read_inputs(graph, x, BasesSpec.of(spec, spec_fields))
    out = Path(out)
    refuse_other(inputs.manifest, out)
    beside = beside or {}
    if (finished := _finished(out, beside)) is not None:
        return finished
    executor = LocalExecutor() if executor is None else checked_executor("precompute", executor)
    if isinstance(inputs.matrix, DiskOperator) and not isinstance(executor, LocalExecutor):
        rule, hint = "this process for a graph whose edges are on disk", "Where the edges fit the memory, it may be any."
        raise InputError("precompute", "the executor", rule, got=type(executor).__name__, hint=hint)
    # Before there is a folder: a cluster that cannot be reached, or too little memory, must not leave one behind.
    slots = executor.slots
    if block is None:
        block = _widest(inputs, limit)
        if slots > 1:
            block = min(block, -(-inputs.manifest.features // slots))
    with locked(out):
        if (finished := _finished(out, beside)) is not None:  # by the process that had the lock
            return finished
        manifest = begin(inputs, out, block)
        missing = missing_blocks(manifest, out)
        check_space(manifest, out, missing)
        write_beside(inputs, out, beside)
        common = BlockComputation(inputs._replace(manifest=manifest, labels=None, parts=None), out, where)
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


def _finished(out: Path, beside: Mapping[str, str]) -> Bases | None:
    """The bases, if the folder is whole; None if there is something to do."""
    if not (out / "manifest.json").is_file():
        return None
    try:
        bases = Bases.open(out)
        return bases if all((out / name).read_text(encoding="utf-8") == text for name, text in beside.items()) else None
    except (BasesError, OSError, UnicodeDecodeError):  # a file is damaged or gone: it is written again
        return None


def _widest(inputs: Inputs, limit: int | None) -> int:
    """How many columns fit into the memory, at most ``WIDEST``."""
    held = resident_bytes()
    if isinstance(inputs.features, SparseOperator):
        held += 12 * inputs.features.nnz  # for the copy of them by columns
    room = free_bytes() // 2 if limit is None else limit - held
    each = 4 * inputs.manifest.nodes * buffers_needed(inputs.basis)
    width = (room - _SLACK) // each
    if width < 1:
        needed, used = show_bytes(held + _SLACK + each), show_bytes(held)
        rule = f"at least {needed} for this graph, of which {used} are in use already"
        raise InputError("precompute", "memory", rule, got=show_bytes(held + room))
    return min(int(width), WIDEST)
