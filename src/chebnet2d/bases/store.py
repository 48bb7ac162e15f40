"""Bases in a folder, opened for reading: memory-mapped, by rows."""

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.bases.plan import BasesError, Plan, block_name, features_digest, operator_digest, read_plan
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import BASES, Basis


class Bases:
    """P_0, ..., P_D of some nodes. Nothing is in memory but what is read.

    ``nodes`` are the stored nodes in stored order; ``labels`` and ``parts`` (fixed splits) belong to them, or are None.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        self.nodes = torch.from_numpy(np.array(_load(folder / "rows.npy", (plan.rows,))))
        self.labels = _optional(folder / "labels.npy", (plan.rows,))
        self.parts = _optional(folder / "parts.npy", None)
        shapes = [(plan.tiles, plan.degree + 1, plan.tile, stop - start) for start, stop in plan.blocks]
        self._blocks = [_load(folder / block_name(i), shape, mapped=True) for i, shape in enumerate(shapes)]
        self._place: Tensor | None = None

    @classmethod
    def open(cls, folder: str | Path, **expected: Any) -> "Bases":
        """The bases in a folder. ``expected``: what they must be, e.g. ``degree=10, dtype="float16", basis="chebyshev"``."""
        folder = Path(folder)
        plan = read_plan(folder / "manifest.json")
        if plan is None:
            unfinished = (folder / "plan.json").is_file()
            got = "an interrupted precompute; run it again" if unfinished else "no manifest.json"
            raise BasesError("bases", str(folder), "a folder with finished bases", got=got)
        for name, value in expected.items():
            if not hasattr(plan, name):
                raise InputError("Bases.open", "an expectation", f"a field of the manifest, not {name!r}", value)
            if getattr(plan, name) != value:
                raise BasesError("bases", str(folder), f"{name} {value!r}", getattr(plan, name), verb="have")
        return cls(folder, plan)

    # ---- what they are --------------------------------------------------------------------------------------------
    @property
    def degree(self) -> int:
        return self.plan.degree

    @property
    def operator(self) -> str:
        return self.plan.operator

    @property
    def basis_name(self) -> str:
        return self.plan.basis

    @property
    def basis_parameters(self) -> dict[str, Any]:
        return self.plan.parameters

    @property
    def basis(self) -> Basis:
        if self.plan.basis not in BASES:
            raise BasesError("bases", str(self.folder), "a basis of this library", self.plan.basis, verb="hold")
        made: Basis = BASES[self.plan.basis](**self.plan.parameters)
        return made

    @property
    def num_features(self) -> int:
        return self.plan.features

    @property
    def num_nodes(self) -> int:
        """Of the graph, stored or not."""
        return self.plan.nodes

    @property
    def num_classes(self) -> int | None:
        return self.plan.classes

    @property
    def metric(self) -> str:
        return self.plan.metric

    @property
    def nbytes(self) -> int:
        return sum(self.plan.block_bytes)

    def __len__(self) -> int:
        return self.plan.rows

    def __repr__(self) -> str:
        plan = self.plan
        return (
            f"Bases({plan.name or 'graph'}: {plan.basis} of {plan.operator}, degree {plan.degree}, "
            f"{plan.rows} rows x {plan.features} features, {plan.dtype})"
        )

    def check(self, operator: SparseOperator | None = None, x: Tensor | SparseOperator | None = None) -> None:
        """Raise unless these are the bases of that operator and those features."""
        for made, found, what in (
            (None if operator is None else operator_digest(operator), self.plan.graph_digest, "graph"),
            (None if x is None else features_digest(x), self.plan.features_digest, "features"),
        ):
            if made is not None and made != found:
                raise BasesError("bases", str(self.folder), f"to the {what} {made}", got=f"bases of {found}", verb="belong")

    # ---- rows -----------------------------------------------------------------------------------------------------
    def positions(self, nodes: Tensor) -> Tensor:
        """Where the nodes are stored."""
        if not isinstance(nodes, Tensor) or nodes.dim() != 1 or nodes.is_floating_point() or nodes.dtype == torch.bool:
            raise InputError("Bases", "nodes", "a vector of node indices", nodes)
        if nodes.numel() and (int(nodes.min()) < 0 or int(nodes.max()) >= self.num_nodes):
            raise InputError("Bases", "nodes", f"from 0 to {self.num_nodes - 1}", got="others among them")
        if self._place is None:
            self._place = torch.full((self.num_nodes,), -1, dtype=torch.int64)
            self._place[self.nodes] = torch.arange(len(self))
        found = self._place[nodes.long()]
        if bool((found < 0).any()):
            missing = int(nodes[found < 0][0])
            raise InputError(
                "Bases",
                "nodes",
                "stored",
                got=f"node {missing}, of which there is no row",
                hint="Precompute with rows='all', or with the nodes that are needed.",
            )
        return found

    def read(self, positions: Tensor) -> Tensor:
        """Stored rows by position: B x (D + 1) x F in float32. By numpy alone, in the thread that calls."""
        index = positions.numpy()
        tile, place = index // self.plan.tile, index % self.plan.tile
        if len(self._blocks) == 1:
            return torch.from_numpy(self._blocks[0][tile, :, place].astype(np.float32, copy=False))
        out = np.empty((index.size, self.degree + 1, self.num_features), dtype=np.float32)
        for (start, stop), block in zip(self.plan.blocks, self._blocks, strict=True):
            out[:, :, start:stop] = block[tile, :, place]
        return torch.from_numpy(out)

    def forget(self) -> None:
        """Give back the mapped pages that were read: they count as this process's memory, though the system could take them."""
        for block in self._blocks:
            if hasattr(mmap, "MADV_DONTNEED"):  # the files are read-only, so nothing is lost
                block._mmap.madvise(mmap.MADV_DONTNEED)

    def terms(self, nodes: Tensor) -> Tensor:
        """Rows by node: B x (D + 1) x F in float32."""
        return self.read(self.positions(nodes))


def _load(path: Path, shape: tuple[int, ...] | None, *, mapped: bool = False) -> Any:
    try:
        array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except FileNotFoundError:
        raise BasesError(
            "bases", str(path.parent), f"the file {path.name}", got="none", hint="Precompute again.", verb="have"
        ) from None
    except (OSError, ValueError) as error:
        raise BasesError("bases", str(path), "a numpy array", got=type(error).__name__, hint="Precompute again.") from None
    if shape is not None and array.shape != shape:
        raise BasesError("bases", str(path), f"of shape {shape}", got=str(array.shape), hint="Precompute again.")
    return array


def _optional(path: Path, shape: tuple[int, ...] | None) -> Tensor | None:
    return torch.from_numpy(_load(path, shape)) if path.is_file() else None
