"""Bases in a folder, opened for reading by rows through memory maps."""

import mmap
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.bases.arrays import BROKEN_ARRAY, map_array
from chebnet2d.bases.manifest import BasesError, Manifest, block_name, read_manifest
from chebnet2d.polynomials import BASES, Basis

_AGAIN = "Precompute again."

_MAPPED = 2**26  # bytes of files that are mapped at a time


class Bases:
    """P_0, ..., P_D of some nodes. Only what is read is in memory.

    ``nodes`` are the stored nodes in stored order; ``labels`` and ``parts`` (fixed splits) belong to them, or are None.
    ``num_nodes`` counts the nodes of the graph, stored or not. ``basis_parameters``: {"a": 1.0, "b": 1.0} for a Jacobi basis.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        self.degree, self.operator, self.metric = manifest.degree, manifest.operator, manifest.metric
        self.basis_name, self.basis_parameters = manifest.basis, manifest.parameters
        self.num_nodes, self.num_features, self.num_classes = manifest.nodes, manifest.features, manifest.classes
        self.nodes = torch.from_numpy(_load(folder / "rows.npy", (manifest.rows,), ("int64",), (0, manifest.nodes - 1)))
        classes = np.iinfo(np.int64).max if manifest.classes is None else manifest.classes
        self.labels = _optional(folder / "labels.npy", (manifest.rows,), ("int64", "int32"), (-1, classes - 1))
        self.parts = _optional(folder / "parts.npy", (manifest.rows, -1), ("uint8",), (0, 3))
        self._blocks = [
            _load(folder / block_name(i), shape, (manifest.dtype,), mapped=True) for i, shape in enumerate(manifest.block_shapes)
        ]
        self._sorted, self._place = torch.sort(self.nodes)
        if bool((self._sorted[1:] == self._sorted[:-1]).any()):
            raise BasesError("bases", str(folder / "rows.npy"), "different nodes", got="some twice", hint=_AGAIN, verb="hold")

    @classmethod
    def open(cls, folder: str | Path) -> "Bases":
        """The bases in a folder. Whether they are those of some graph and features, ``precompute`` of these tells."""
        folder = Path(folder)
        manifest = read_manifest(folder / "manifest.json")
        if manifest is None:
            unfinished = (folder / "plan.json").is_file()
            got = "an interrupted precompute; run it again" if unfinished else "no manifest.json"
            raise BasesError("bases", str(folder), "a folder with finished bases", got=got)
        return cls(folder, manifest)

    @property
    def basis(self) -> Basis:
        if self.basis_name not in BASES:
            raise BasesError("bases", str(self.folder), "a basis of this library", self.basis_name, verb="hold")
        made: Basis = BASES[self.basis_name](**self.basis_parameters)
        return made

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

    def with_labels(self, labels: Tensor, classes: int | None = None) -> "Bases":
        """These bases with other labels: a class index for each node of the graph, -1 for none. The files stay as they are.

        ``classes``: how many there are; default: the largest index and one.
        """
        if not isinstance(labels, Tensor) or labels.shape != (self.num_nodes,) or labels.is_floating_point():
            raise InputError("Bases.with_labels", "labels", f"{self.num_nodes} class indices", labels)
        view = copy(self)
        view.labels, view.num_classes = labels[self.nodes], int(labels.max()) + 1 if classes is None else classes
        return view

    def positions(self, nodes: Tensor) -> Tensor:
        """Where the nodes are stored: a row for each of n node indices."""
        if not isinstance(nodes, Tensor) or nodes.dim() != 1 or nodes.is_floating_point() or nodes.dtype == torch.bool:
            raise InputError("Bases", "nodes", "a vector of node indices", nodes)
        if nodes.numel() and (int(nodes.min()) < 0 or int(nodes.max()) >= self.num_nodes):
            raise InputError("Bases", "nodes", f"from 0 to {self.num_nodes - 1}", got="others among them")
        place = torch.searchsorted(self._sorted, nodes.long()).clamp_(max=len(self) - 1)
        absent = self._sorted[place] != nodes
        if bool(absent.any()):
            got = f"node {int(nodes[absent][0])}, of which there is no row"
            raise InputError("Bases", "nodes", "stored", got=got, hint="Precompute with rows='all', or with the nodes you need.")
        return self._place[place]

    def read(self, positions: Tensor) -> Tensor:
        """Stored rows by position: B x (D + 1) x F in float32. Numpy copies them in the calling thread.

        Nothing of the files stays mapped, and no more than ``_MAPPED`` bytes are at any time: rows in no order touch a page for
        each degree, and 10,000 of them as many pages as a small graph has.
        """
        index = positions.numpy()
        out = np.empty((index.size, self.degree + 1, self.num_features), dtype=np.float32)
        order = np.argsort(index, kind="stable")  # rows of one page are read together
        pages = sum(mmap.PAGESIZE + block.itemsize * block.shape[-1] for block in self._blocks)
        step = max(1, _MAPPED // ((self.degree + 1) * pages))
        for first in range(0, index.size, step):
            rows = order[first : first + step]
            tile, place = np.divmod(index[rows], self.manifest.tile)
            for (start, stop), block in zip(self.manifest.blocks, self._blocks, strict=True):
                out[rows, :, start:stop] = block[tile, :, place]
            self.forget()
        return torch.from_numpy(out)

    def read_term(self, positions: Tensor, degree: int, start: int, stop: int) -> Tensor:
        """One degree of stored rows by position, and some columns: B x (stop - start) in float32."""
        tile, place = np.divmod(positions.numpy(), self.manifest.tile)
        out = np.empty((len(tile), stop - start), dtype=np.float32)
        for (first, last), block in zip(self.manifest.blocks, self._blocks, strict=True):
            low, high = max(start, first), min(stop, last)
            if low < high:
                out[:, low - start : high - start] = block[tile, degree, place, low - first : high - first]
        return torch.from_numpy(out)

    def forget(self) -> None:
        """Release the mapped pages that were read: they count as memory of this process, although the system could take them."""
        for block in self._blocks:
            if hasattr(mmap, "MADV_DONTNEED"):  # the files are read-only, so nothing is lost
                block._mmap.madvise(mmap.MADV_DONTNEED)

    def terms(self, nodes: Tensor) -> Tensor:
        """Rows by node: B x (D + 1) x F in float32."""
        return self.read(self.positions(nodes))


def _load(
    path: Path, shape: tuple[int, ...], dtypes: Sequence[str], limits: tuple[int, int] | None = None, *, mapped: bool = False
) -> Any:
    """An array of this shape (-1: any size) and one of the types, whose values are within the limits."""
    try:
        array = map_array(path)
    except FileNotFoundError:
        raise BasesError("bases", str(path.parent), f"the file {path.name}", got="none", hint=_AGAIN, verb="have") from None
    except BROKEN_ARRAY as error:
        raise BasesError("bases", str(path), "a numpy array", got=type(error).__name__, hint=_AGAIN) from None
    fits = len(array.shape) == len(shape) and all(want in (-1, size) for want, size in zip(shape, array.shape, strict=True))
    if not fits:
        raise BasesError("bases", str(path), f"of shape {shape}", got=str(array.shape), hint=_AGAIN)
    if array.dtype.name not in dtypes or not array.dtype.isnative:
        raise BasesError("bases", str(path), f"of type {' or '.join(dtypes)}", got=str(array.dtype), hint=_AGAIN)
    array = array if mapped else np.array(array)
    if limits is not None and array.size and not (limits[0] <= array.min() and array.max() <= limits[1]):
        rule = f"numbers from {limits[0]} to {limits[1]}"
        raise BasesError("bases", str(path), rule, got=f"{array.min()} to {array.max()}", hint=_AGAIN, verb="hold")
    return array


def _optional(path: Path, shape: tuple[int, ...], dtypes: Sequence[str], limits: tuple[int, int]) -> Tensor | None:
    return torch.from_numpy(_load(path, shape, dtypes, limits)) if path.is_file() else None
