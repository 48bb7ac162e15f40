"""The computation of one block of columns: a task of any executor."""

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d.bases.blocks import BlockFile, disk_errors, has_block, new_block
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.bases.inputs import Inputs
from chebnet2d.bases.recurrence import block_terms
from chebnet2d.bases.reuse import Reuse
from chebnet2d.graph import SparseOperator


class BlockComputation:
    """All that the blocks have in common: P_d = p_d(M) X of some rows, by the blocks of the manifest, in the folder ``out``."""

    def __init__(self, inputs: Inputs, out: Path, device: torch.device, reuse: Reuse | None = None) -> None:
        """``reuse``: rows of other bases, for blocks that are computed in this process, on its CPU."""
        self.inputs, self.manifest, self.out, self.device = inputs, inputs.manifest, out, device
        self.reuse = reuse
        self._disk: ThreadPoolExecutor | None = None
        self._saving: Future[None] | None = None

    def __reduce__(self) -> Any:
        """Numpy arrays, which the processes of a Ray node share without a copy. Buffers and threads stay here."""
        matrix, features, *others = self.inputs
        return _rebuilt, (_arrays(matrix), _arrays(features), others, self.out.absolute(), self.device)

    @cached_property
    def _prepared(self) -> tuple[SparseOperator | DiskOperator, Any, list[Tensor]]:
        """M on the device; X, by columns if it is sparse, so that a block is a slice; and two buffers for the widest block."""
        x: Any = self.inputs.features
        if isinstance(x, SparseOperator):
            x = scipy.sparse.csc_array(x.to_scipy(), dtype=np.float32)
        size = self.manifest.nodes * self.manifest.widest
        return self.inputs.matrix.to(device=self.device), x, [torch.empty(size, device=self.device) for _ in range(2)]

    def compute(self, index: int, report: Callable[[int, int], None] | None = None) -> None:
        """Write block ``index``, unless it is there. ``report(index, terms)`` is called after every term."""
        if has_block(self.manifest, index, self.out):
            return
        start, stop = self.manifest.blocks[index]
        nodes, width = self.manifest.nodes, stop - start
        matrix, x, buffers = self._prepared
        first, spare = (buffer[: nodes * width].view(nodes, width) for buffer in buffers)
        columns = x[:, start:stop]
        if isinstance(columns, Tensor):
            first.copy_(columns)
        elif self.device.type == "cpu":
            columns.toarray(out=first.numpy())
        else:
            first.copy_(torch.from_numpy(columns.toarray()))
        with new_block(self.manifest, index, self.out) as block:
            if self.reuse is None:
                terms = block_terms(matrix, self.inputs.basis, first, spare, self.manifest.degree)
            else:
                terms = self.reuse.terms(matrix, first, spare, (start, stop))
            self._write(block, terms, (lambda done: report(index, done)) if report is not None else None)
            self._wait_for_disk()
        if self._disk is not None:
            self._saving = self._disk.submit(block.save)
            return
        with disk_errors(self.out):
            block.save()

    def _write(self, block: BlockFile, terms: Iterator[Tensor], report: Callable[[int], None] | None) -> None:
        """A term is written while the next one is computed, which reads it too; the one after that takes its place."""
        with ThreadPoolExecutor(1) as pen:
            writing: Future[None] | None = None
            for d, term in enumerate(terms):
                if writing is not None:
                    writing.result()
                    if report is not None:
                        report(d)
                writing = pen.submit(block.write, d, term, self.inputs.rows)
            assert writing is not None
            writing.result()
        if report is not None:
            report(self.manifest.degree + 1)

    @contextmanager
    def saving_behind(self) -> Iterator[None]:
        """While this lasts, blocks computed in this process are saved while the next one is computed."""
        try:
            with ThreadPoolExecutor(1) as self._disk:
                yield
                with disk_errors(self.out):
                    self._wait_for_disk()
        finally:
            self._disk = self._saving = None

    def _wait_for_disk(self) -> None:
        if self._saving is not None:
            self._saving.result()


def _arrays(x: Tensor | SparseOperator | DiskOperator) -> Any:
    assert not isinstance(x, DiskOperator), "precompute keeps it in its process"
    return x.detach().cpu().numpy() if isinstance(x, Tensor) else x.to_scipy()


def _rebuilt(matrix: Any, features: Any, others: list[Any], out: Path, device: torch.device) -> BlockComputation:
    with warnings.catch_warnings():  # arrays that Ray shares are read-only, and nothing writes to them
        warnings.simplefilter("ignore")
        return BlockComputation(Inputs(_tensor(matrix), _tensor(features), *others), out, device)


def _tensor(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return torch.from_numpy(x)
    crow, col, values = (torch.from_numpy(part) for part in (x.indptr, x.indices, x.data))
    return SparseOperator(torch.sparse_csr_tensor(crow, col, values, size=x.shape, check_invariants=False))
