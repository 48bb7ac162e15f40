"""The manifest of a folder of bases, in JSON: ``plan.json`` while the folder is written, ``manifest.json`` when it is whole.

    manifest.json        what the bases are; written last
    rows.npy             node of each stored row
    block-0000.npy ...   columns by blocks: tiles x (D + 1) x rows of a tile x columns of the block
    marks.npy            of each node: key of its id, digests of its rows of M and X (bases of earlier versions have none)
    labels.npy           class of each stored row (if the data has labels)
    parts.npy            rows x splits: 0 none, 1 train, 2 validation, 3 test (if the data has fixed splits)

Why tiles: the recurrence gives one degree of all rows at a time, training needs all degrees of some rows. A tile of T rows is
contiguous on disk, degree by degree, so that each write is one piece of T b numbers, no page is written twice, and the numbers of
a row are D + 1 pieces within one tile.
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of, real
from chebnet2d._documents import check_fields, read_document
from chebnet2d._targets import written_whole
from chebnet2d._version import __version__
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.graph import SparseOperator

FORMAT = 1
TILE = 256  # rows of a tile: a piece is about 50 KB on ogbn-products, and the terms of a row are near each other
DTYPES = ("float32", "float16")
_LARGEST = 2**40  # more nodes or columns than any disk holds


class BasesError(InputError):
    """The folder holds other bases than those asked for, or none."""


class OtherBasesError(BasesError):
    """The folder holds other bases, finished or not."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the bases are (up to ``rows_digest``), how the files are laid out, and what training needs to know."""

    format: int = FORMAT
    basis: str
    parameters: dict[str, Any]
    operator: str
    degree: int
    dtype: str
    nodes: int
    features: int
    rows: int
    graph_digest: str
    features_digest: str
    rows_digest: str
    tile: int = TILE
    blocks: list[list[int]] = field(default_factory=list)
    name: str
    metric: str
    classes: int | None
    version: str = __version__

    @property
    def block_shapes(self) -> list[tuple[int, int, int, int]]:
        tiles = -(-self.rows // self.tile)
        return [(tiles, self.degree + 1, self.tile, stop - start) for start, stop in self.blocks]

    @property
    def widest(self) -> int:
        return max(stop - start for start, stop in self.blocks)

    @property
    def block_bytes(self) -> list[int]:
        return [math.prod(shape) * np.dtype(self.dtype).itemsize for shape in self.block_shapes]

    @property
    def identity(self) -> str:
        """The properties that tell these bases from others, in words."""
        return ", ".join(words.format(self) for words in _PROPERTIES)

    def difference(self, other: "Manifest") -> str | None:
        """In words, the first property in which these bases and others differ; None if they are the same."""
        for words in _PROPERTIES:
            mine, theirs = words.format(self), words.format(other)
            if mine != theirs:
                return f"{mine}, got {theirs}"
        return None


_PROPERTIES = (
    "the graph {0.graph_digest}",
    "the features {0.features_digest}",
    "the basis {0.basis}",
    "basis parameters {0.parameters}",
    "the operator {0.operator}",
    "degree {0.degree}",
    "dtype {0.dtype}",
    "{0.features} features",
    "{0.rows} rows",
    "the rows {0.rows_digest}",
)


def _text(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, str) or len(value) > 1000:
        raise BasesError(owner, name, "a short text", value)


def _count(minimum: int) -> Any:
    def check(owner: str, name: str, value: Any) -> None:
        integer(owner, name, value, minimum, _LARGEST)

    return check


def _dtype(owner: str, name: str, value: Any) -> None:
    one_of(owner, name, value, DTYPES)


def _parameters(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, dict) or len(value) > 16:
        raise BasesError(owner, name, "numbers by name", value)
    for key, number in value.items():
        real(owner, f"{key} of {name}", number)


def _pairs(owner: str, name: str, value: Any) -> None:
    pairs = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    if not pairs or any(type(end) is not int for pair in value for end in pair):
        raise BasesError(owner, name, "pairs of integers", value)


def _classes(owner: str, name: str, value: Any) -> None:
    if value is not None:
        integer(owner, name, value, 0, _LARGEST)


_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("basis", "operator", "graph_digest", "features_digest", "rows_digest", "name", "metric", "version"), _text),
    **dict.fromkeys(("nodes", "features", "rows", "tile"), _count(1)),
    **{"format": int, "degree": _count(0), "dtype": _dtype, "parameters": _parameters, "blocks": _pairs, "classes": _classes},
}


def read_manifest(path: Path) -> Manifest | None:
    """None if there is no such file. A file that is no manifest, or whose numbers cannot be, is an error."""
    if not path.exists():
        return None
    try:
        content = read_document("bases", path)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise BasesError("bases", str(path), f"a manifest of format {FORMAT}", got="something else")
        found = Manifest(**check_fields("bases", str(path), content, _SCHEMA))
    except InputError as error:
        raise BasesError(**vars(error)) from None
    ends = [0, *(stop for _, stop in found.blocks)]
    if [start for start, _ in found.blocks] != ends[:-1] or ends != sorted(set(ends)) or ends[-1] != found.features:
        rule = f"intervals, one after the other, of its {found.features} features"
        raise BasesError("bases", f"blocks in {path}", rule, found.blocks)
    if found.rows > found.nodes:
        raise BasesError("bases", f"rows in {path}", f"at most its {found.nodes} nodes", found.rows)
    return found


def write_manifest(manifest: Manifest, path: Path) -> None:
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")


def digest(*arrays: Any) -> str:
    hasher = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(array)
        hasher.update(f"{array.dtype}:{array.shape};".encode())
        hasher.update(array.data)
    return hasher.hexdigest()[:16]


def matrix_digest(x: Tensor | SparseOperator | DiskOperator) -> str:
    """Dense: of the values in float32. On disk or in memory, a matrix has the same one."""
    if isinstance(x, DiskOperator):
        hasher = hashlib.sha256()
        for dtype, size, parts in x.pieces():
            hasher.update(f"{dtype}:({size},);".encode())
            for part in parts:
                hasher.update(part.data)
        return hasher.hexdigest()[:16]
    if isinstance(x, Tensor):
        return digest(x.detach().cpu().contiguous().to(torch.float32).numpy())
    return digest(*(part.cpu().numpy() for part in (x.csr.crow_indices(), x.csr.col_indices(), x.values)))


def block_name(index: int) -> str:
    return f"block-{index:04d}.npy"
