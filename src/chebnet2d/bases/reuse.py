"""Some rows of the terms of a graph, where their neighbours' are those of bases that there are already."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from chebnet2d.bases.bases import Bases
from chebnet2d.bases.change import Reach
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.bases.recurrence import some_rows
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import ThreeTermBasis

_ROWS = 1 << 15  # that are read at a time


class Reuse(NamedTuple):
    """``place``: the stored row of each of the N nodes, -1 for none; ``reach``: which rows are computed, from which degree on."""

    known: Bases
    basis: ThreeTermBasis
    place: Any
    reach: Reach

    @property
    def rows(self) -> Any:
        return self.reach.rows

    def terms(
        self, matrix: SparseOperator | DiskOperator, start: Tensor, spare: Tensor, columns: tuple[int, int]
    ) -> Iterator[Tensor]:
        """As ``block_terms``, for some columns of X, right in the rows that are needed."""
        yield start
        before, current = spare, start
        for k in range(1, self.known.degree + 1):
            a, b, c = self.basis.step(k)
            for rows, bags, neighbours, weights in some_rows(matrix, np.flatnonzero(self.reach.since <= k)):
                # The same steps, and so the same rounding, as in ``large_step``.
                part = embedding_bag(neighbours, current, bags, mode="sum", per_sample_weights=weights, include_last_offset=True)
                term = part.mul_(a) if k == 1 or c == 0 else before[rows].mul_(c).add_(part, alpha=a)
                before[rows] = term.add_(current[rows], alpha=b) if b != 0 else term
            self._fill(before, k, columns)
            before, current = current, before
            yield current

    def _fill(self, term: Tensor, degree: int, columns: tuple[int, int]) -> None:
        """The rows that are not computed, from the disk."""
        wanted = self.reach.needed[self.reach.since[self.reach.needed] > degree]
        for start in range(0, len(wanted), _ROWS):
            rows = wanted[start : start + _ROWS]
            term[torch.from_numpy(rows)] = self.known.read_term(torch.from_numpy(self.place[rows]), degree, *columns)
        self.known.forget()
