"""``precompute`` on a Ray cluster: blocks of columns are the tasks, and no task talks to another."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chebnet2d._checks import integer
from chebnet2d.bases import Bases
from chebnet2d.bases.plan import block_name
from chebnet2d.bases.precompute import (
    WIDEST,
    PrecomputeProgress,
    Report,
    Work,
    _widest,
    begin,
    finish,
    locked,
    prepare,
    write_blocks,
)
from chebnet2d.bases.sizes import parse_bytes
from chebnet2d.cluster.tasks import connected, run_tasks, slots
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis


def precompute_on_ray(
    graph: Any,
    x: Any = None,
    *,
    out: str | Path,
    address: str,
    basis: str | Basis = "chebyshev",
    degree: int = 10,
    operator: str = "L_hat",
    dtype: str = "float32",
    rows: Any = "labelled",
    memory: int | str | None = None,
    block: int | None = None,
    cpus: int = 1,
    progress: Report | None = None,
) -> Bases:
    """``chebnet2d.bases.precompute`` with its blocks spread over a cluster whose nodes share the disk of ``out``.

    The graph and the features are sent to the cluster once. A block is written by the task that computes it, whole or not at all,
    and a block that is there is not computed again; the driver alone writes the plan and the manifest.

    Args:
        memory: of a task, see ``precompute``.
        block: columns of a block; default: so that every CPU of the cluster has one.
        cpus: that a task occupies.
    """
    integer("precompute", "cpus", cpus, 1)
    limit = None if memory is None else parse_bytes(memory, "precompute")
    work = prepare(graph, x, out=Path(out).absolute(), basis=basis, degree=degree, operator=operator, dtype=dtype, rows=rows)
    if work.finished():
        return Bases.open(out)
    with connected(address) as ray, locked(work.out):
        if work.finished():  # by the process that had the lock
            return Bases.open(out)
        if block is None:
            widest = min(_widest(work, limit), WIDEST, -(-work.plan.features // slots(ray, cpus)))
        else:
            widest = integer("precompute", "block", block, 1)
        work = begin(work, widest)
        plan = work.plan
        todo = [index for index in range(len(plan.blocks)) if not (work.out / block_name(index)).is_file()]
        terms = plan.degree + 1
        total = terms * plan.features
        done = total - terms * sum(plan.blocks[index][1] - plan.blocks[index][0] for index in todo)
        tasks = {index: (index,) for index in todo}
        for index, _ in run_tasks(_block, tasks, address=address, shared=_packed(work), cpus=cpus):
            start, stop = plan.blocks[index]
            done += terms * (stop - start)
            if progress is not None:
                progress(PrecomputeProgress(done, total, index, len(plan.blocks)))
        finish(work)
    return Bases.open(out)


def _block(packed: Any, index: int) -> int:
    write_blocks(_unpacked(packed), indices=[index])
    return index


def _packed(work: Work) -> Any:
    """As numpy arrays, which the processes of a node share without a copy."""
    return replace(work, matrix=None, features=None), _arrays(work.matrix), _arrays(work.features)  # type: ignore[arg-type]


def _unpacked(packed: Any) -> Work:
    work, matrix, features = packed
    with warnings.catch_warnings():  # the arrays of the cluster are read-only, and so they stay
        warnings.simplefilter("ignore")
        return replace(work, matrix=_tensors(matrix), features=_tensors(features))


def _arrays(x: torch.Tensor | SparseOperator) -> Any:
    if isinstance(x, torch.Tensor):
        return x.numpy()
    csr = x.csr
    return csr.crow_indices().numpy(), csr.col_indices().numpy(), csr.values().numpy(), x.shape, x.symmetric


def _tensors(arrays: Any) -> Any:
    if isinstance(arrays, np.ndarray):
        return torch.from_numpy(arrays)
    crow, col, values, shape, symmetric = arrays
    crow, col, values = (torch.from_numpy(part) for part in (crow, col, values))
    return SparseOperator(torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=False), symmetric=symmetric)
