"""The computation of one block of columns: a task of any executor."""

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d.bases.blocks import disk_errors, new_block
from chebnet2d.bases.columns import Columns
from chebnet2d.bases.manifest import Manifest, block_name
from chebnet2d.bases.recurrence import block_terms
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis


class BlockComputation:
    """All that the blocks have in common: P_d = p_d(M) X of some rows, by the blocks of the manifest, in the folder ``out``."""

    def __init__(
        self,
        matrix: SparseOperator,
        features: Tensor | SparseOperator,
        basis: Basis,
        manifest: Manifest,
        rows: Any,
        out: Path,
        device: torch.device,
    ) -> None:
        self.matrix, self.features, self.basis = matrix, features, basis
        self.manifest, self.rows, self.out, self.device = manifest, rows, out, device
        self._disk: ThreadPoolExecutor | None = None
        self._saving: Future[None] | None = None

    def __reduce__(self) -> Any:
        """Numpy arrays, which the processes of a Ray node share without a copy. Buffers and threads stay here."""
        others = (self.basis, self.manifest, self.rows, self.out.absolute(), self.device)
        return _rebuilt, (_arrays(self.matrix), _arrays(self.features), *others)

    @cached_property
    def _operator(self) -> SparseOperator:
        return self.matrix.to(device=self.device)

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self.features)

    @cached_property
    def _buffers(self) -> list[Tensor]:
        widest = max(stop - start for start, stop in self.manifest.blocks)
        return [torch.empty(self.manifest.nodes * widest, device=self.device) for _ in range(2)]

    def compute(self, index: int, report: Callable[[int, int], None] | None = None) -> None:
        """Write block ``index``, unless it is there. ``report(index, terms)`` is called after every term."""
        if (self.out / block_name(index)).is_file():
            return
        start, stop = self.manifest.blocks[index]
        nodes, width = self.manifest.nodes, stop - start
        first, spare = (buffer[: nodes * width].view(nodes, width) for buffer in self._buffers)
        self._columns.copy(start, stop, first)
        with new_block(self.manifest, index, self.out) as block:
            for d, term in enumerate(block_terms(self._operator, self.basis, first, spare, self.manifest.degree)):
                block.write(d, term, self.rows)
                if report is not None:
                    report(index, d + 1)
            self._wait_for_disk()
        if self._disk is not None:
            self._saving = self._disk.submit(block.save)
            return
        with disk_errors(self.out):
            block.save()

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


def _rebuilt(matrix: Any, features: Any, *others: Any) -> BlockComputation:
    with warnings.catch_warnings():  # arrays that Ray shares are read-only, and nothing writes to them
        warnings.simplefilter("ignore")
        return BlockComputation(_tensors(matrix), _tensors(features), *others)


def _arrays(x: Tensor | SparseOperator) -> Any:
    if isinstance(x, Tensor):
        return x.detach().cpu().numpy()
    csr = x.csr
    return csr.crow_indices().numpy(), csr.col_indices().numpy(), csr.values().numpy(), x.shape, x.symmetric


def _tensors(arrays: Any) -> Any:
    if isinstance(arrays, np.ndarray):
        return torch.from_numpy(arrays)
    crow, col, values, shape, symmetric = arrays
    crow, col, values = (torch.from_numpy(part) for part in (crow, col, values))
    return SparseOperator(torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=False), symmetric=symmetric)
