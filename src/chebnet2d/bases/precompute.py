"""P_d = p_d(M) X in blocks of columns. Columns are independent of each other, so a block needs N x b buffers and nothing more."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from chebnet2d._checks import InputError, integer
from chebnet2d._device import checked_device
from chebnet2d._sizes import parse_bytes
from chebnet2d.bases.bases import Bases
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.bases.filling import PrecomputeProgress, fill, finished, widest
from chebnet2d.bases.folder import refuse_other
from chebnet2d.bases.inputs import BasesSpec, read_inputs
from chebnet2d.cluster import Executor, LocalExecutor, checked_executor


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
    if (found := finished(out, beside or {})) is not None:
        return found
    executor = LocalExecutor() if executor is None else checked_executor("precompute", executor)
    if isinstance(inputs.matrix, DiskOperator) and not isinstance(executor, LocalExecutor):
        rule, hint = "this process for a graph whose edges are on disk", "Where the edges fit the memory, it may be any."
        raise InputError("precompute", "the executor", rule, got=type(executor).__name__, hint=hint)
    # Before there is a folder: a cluster that cannot be reached, or too little memory, must not leave one behind.
    slots = executor.slots
    if block is None:
        block = widest(inputs, limit)
        if slots > 1:
            block = min(block, -(-inputs.manifest.features // slots))
    return fill(inputs, out, block, device=where, executor=executor, progress=progress, beside=beside)
