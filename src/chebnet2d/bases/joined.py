"""Bases of all nodes of a graph, in two folders: of the graph as it was, and of those rows that have changed since."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d.bases.bases import Bases
from chebnet2d.bases.manifest import digest


class JoinedBases(Bases):
    """``changed``: some rows, of the graph as it is. ``known``: of a graph that had the others, whose places there are ``place``.

    It is read as any bases are; both folders stay where they are while it is in use.
    """

    def __init__(self, known: Bases, changed: Bases, place: Any, labels: Tensor | None, parts: Tensor | None) -> None:
        vars(self).update(vars(changed))
        self.nodes = self._sorted = self._place = torch.arange(changed.num_nodes)
        self.labels, self.parts = labels, parts
        self.manifest = replace(changed.manifest, rows=changed.num_nodes, rows_digest=digest(self.nodes.numpy()))
        self._known, self._changed = known, changed
        # One number for each row: from 0 on in ``known``, from -1 down in ``changed``.
        self._where = np.array(place)
        self._where[changed.nodes.numpy()] = -1 - np.arange(len(changed))

    @property
    def nbytes(self) -> int:
        return self._known.nbytes + self._changed.nbytes

    def read(self, positions: Tensor) -> Tensor:
        where = torch.from_numpy(self._where[positions.numpy()])
        if bool((where >= 0).all()):
            return self._known.read(where)
        out = torch.empty(len(where), self.degree + 1, self.num_features)
        stored = where >= 0
        out[stored] = self._known.read(where[stored])
        out[~stored] = self._changed.read(-1 - where[~stored])
        return out

    def read_term(self, positions: Tensor, degree: int, start: int, stop: int) -> Tensor:
        return self.read(positions)[:, degree, start:stop]

    def forget(self) -> None:
        self._known.forget()
        self._changed.forget()
