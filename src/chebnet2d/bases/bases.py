"""Bases in a folder, opened for reading by rows through memory maps."""

import mmap
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.bases.manifest import BasesError, Manifest, block_name, features_digest, operator_digest, read_manifest
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import BASES, Basis


class Bases:
    """P_0, ..., P_D of some nodes. Only what is read is in memory.

    ``nodes`` are the stored nodes in stored order; ``labels`` and ``parts`` (fixed splits) belong to them, or are None.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.nodes = torch.from_numpy(np.array(_load(folder / "rows.npy", (manifest.rows,))))
        self.labels = _optional(folder / "labels.npy", (manifest.rows,))
        self.parts = _optional(folder / "parts.npy", None)
        shapes = [(manifest.tiles, manifest.degree + 1, manifest.tile, stop - start) for start, stop in manifest.blocks]
        self._blocks = [_load(folder / block_name(i), shape, mapped=True) for i, shape in enumerate(shapes)]
        self._place: Tensor | None = None
        self._classes = manifest.classes

    @classmethod
    def open(cls, folder: str | Path, **expected: Any) -> "Bases":
        """The bases in a folder. ``expected``: what they must be, e.g. ``degree=10, dtype="float16", basis="chebyshev"``."""
        folder = Path(folder)
        manifest = read_manifest(folder / "manifest.json")
        if manifest is None:
            unfinished = (folder / "plan.json").is_file()
            got = "an interrupted precompute; run it again" if unfinished else "no manifest.json"
            raise BasesError("bases", str(folder), "a folder with finished bases", got=got)
        for name, value in expected.items():
            if not hasattr(manifest, name):
                raise InputError("Bases.open", "an expectation", f"a field of the manifest, not {name!r}", value)
            if getattr(manifest, name) != value:
                raise BasesError("bases", str(folder), f"{name} {value!r}", getattr(manifest, name), verb="have")
        return cls(folder, manifest)

    # ---- what they are --------------------------------------------------------------------------------------------
    @property
    def degree(self) -> int:
        return self.manifest.degree

    @property
    def operator(self) -> str:
        return self.manifest.operator

    @property
    def basis_name(self) -> str:
        return self.manifest.basis

    @property
    def basis_parameters(self) -> dict[str, Any]:
        """{"a": 1.0, "b": 1.0} for a Jacobi basis."""
        return self.manifest.parameters

    @property
    def basis(self) -> Basis:
        if self.basis_name not in BASES:
            raise BasesError("bases", str(self.folder), "a basis of this library", self.basis_name, verb="hold")
        made: Basis = BASES[self.basis_name](**self.basis_parameters)
        return made

    @property
    def num_features(self) -> int:
        return self.manifest.features

    @property
    def num_nodes(self) -> int:
        """Nodes of the graph, stored or not."""
        return self.manifest.nodes

    @property
    def num_classes(self) -> int | None:
        return self._classes

    @property
    def metric(self) -> str:
        return self.manifest.metric

    @property
    def nbytes(self) -> int:
        return sum(self.manifest.block_bytes)

    def __len__(self) -> int:
        return self.manifest.rows

    def __repr__(self) -> str:
        held = self.manifest
        return (
            f"Bases({held.name or 'graph'}: {held.basis} of {held.operator}, degree {held.degree}, "
            f"{held.rows} rows x {held.features} features, {held.dtype})"
        )

    def check(self, operator: SparseOperator | None = None, x: Tensor | SparseOperator | None = None) -> None:
        """Raise unless these are the bases of that operator and those features."""
        for made, found, what in (
            (None if operator is None else operator_digest(operator), self.manifest.graph_digest, "graph"),
            (None if x is None else features_digest(x), self.manifest.features_digest, "features"),
        ):
            if made is not None and made != found:
                raise BasesError("bases", str(self.folder), f"to the {what} {made}", got=f"bases of {found}", verb="belong")

    def with_labels(self, labels: Tensor) -> "Bases":
        """These bases with other labels: a class index for each node of the graph, -1 for none. The files stay as they are."""
        if not isinstance(labels, Tensor) or labels.shape != (self.num_nodes,) or labels.is_floating_point():
            raise InputError("Bases.with_labels", "labels", f"{self.num_nodes} class indices", labels)
        view = copy(self)
        view.labels, view._classes = labels[self.nodes], int(labels.max()) + 1
        return view

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
        """Stored rows by position: B x (D + 1) x F in float32. Numpy copies them in the calling thread."""
        index = positions.numpy()
        tile, place = index // self.manifest.tile, index % self.manifest.tile
        if len(self._blocks) == 1:
            return torch.from_numpy(self._blocks[0][tile, :, place].astype(np.float32, copy=False))
        out = np.empty((index.size, self.degree + 1, self.num_features), dtype=np.float32)
        for (start, stop), block in zip(self.manifest.blocks, self._blocks, strict=True):
            out[:, :, start:stop] = block[tile, :, place]
        return torch.from_numpy(out)

    def forget(self) -> None:
        """Release the mapped pages that were read: they count as memory of this process, although the system could take them."""
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
