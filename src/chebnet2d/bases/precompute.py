"""P_d = p_d(M) X in blocks of columns. Columns are independent of each other, so a block needs N x b buffers and nothing more."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from chebnet2d._checks import InputError, integer
from chebnet2d._device import checked_device
from chebnet2d.bases.bases import Bases
from chebnet2d.bases.blocks import check_space
from chebnet2d.bases.computation import BlockComputation
from chebnet2d.bases.folder import begin, finish, is_finished, missing_blocks, refuse_other
from chebnet2d.bases.inputs import Inputs, read_inputs
from chebnet2d.bases.lock import locked
from chebnet2d.bases.manifest import Manifest
from chebnet2d.bases.recurrence import buffers_needed
from chebnet2d.bases.sizes import free_bytes, parse_bytes, resident_bytes, show_bytes
from chebnet2d.bases.spec import BasesSpec
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
    """
    where = checked_device("precompute", device)
    limit = None if memory is None else parse_bytes(memory, "precompute")
    if block is not None:
        integer("precompute", "block", block, 1)
    inputs = read_inputs(graph, x, BasesSpec.of(spec, spec_fields))
    out = Path(out)
    refuse_other(inputs.manifest, out)
    if is_finished(out):
        return Bases.open(out)
    executor = LocalExecutor() if executor is None else checked_executor("precompute", executor)
    slots = executor.slots  # before there is a folder: a cluster that cannot be reached must not leave one behind
    with locked(out):
        if is_finished(out):  # by the process that had the lock
            return Bases.open(out)
        if block is None:
            block = _widest(inputs, limit)
            if slots > 1:
                block = min(block, -(-inputs.manifest.features // slots))
        manifest = begin(inputs, out, block)
        missing = missing_blocks(manifest, out)
        check_space(manifest, out, missing)
        common = BlockComputation(inputs.matrix, inputs.features, inputs.basis, manifest, inputs.rows, out, where)
        report = _reporter(manifest, missing, progress)
        with common.saving_behind():
            tasks = ((index, (index,)) for index in missing)
            for index, _ in executor.run(BlockComputation.compute, tasks, shared=common, report=report):
                report(index, manifest.degree + 1)
        finish(manifest, out)
    return Bases.open(out)


def _reporter(
    manifest: Manifest, missing: list[int], progress: Callable[[PrecomputeProgress], None] | None
) -> Callable[[int, int], None]:
    """Of (block, terms of it that are done), from inside a task or when it has ended; what was said is not said again."""
    widths = [stop - start for start, stop in manifest.blocks]
    terms = [manifest.degree + 1] * len(widths)
    total = (manifest.degree + 1) * manifest.features
    for index in missing:
        terms[index] = 0

    def report(index: int, done: int) -> None:
        if progress is not None and terms[index] != done:
            terms[index] = done
            columns = sum(width * count for width, count in zip(widths, terms, strict=True))
            progress(PrecomputeProgress(columns, total, index, len(widths)))

    return report


def _widest(inputs: Inputs, limit: int | None) -> int:
    """How many columns fit into the memory, at most ``WIDEST``."""
    held = resident_bytes()
    if isinstance(inputs.features, SparseOperator):
        held += 12 * inputs.features.nnz  # their copy by columns
    room = free_bytes() // 2 if limit is None else limit - held
    each = 4 * inputs.manifest.nodes * buffers_needed(inputs.basis)
    width = (room - _SLACK) // each
    if width < 1:
        raise InputError(
            "precompute",
            "memory",
            f"at least {show_bytes(held + _SLACK + each)} for this graph, of which {show_bytes(held)} are in use already",
            got=show_bytes(held + room),
        )
    return min(int(width), WIDEST)
