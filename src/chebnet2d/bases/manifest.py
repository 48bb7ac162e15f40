"""The manifest of a folder of bases, in JSON: ``plan.json`` while the folder is written, ``manifest.json`` when it is whole.

    manifest.json        what the bases are; written last
    rows.npy             node of each stored row
    block-0000.npy ...   columns by blocks: tiles x (D + 1) x rows of a tile x columns of the block
    labels.npy           class of each stored row (if the data has labels)
    parts.npy            rows x splits: 0 none, 1 train, 2 validation, 3 test (if the data has fixed splits)

Why tiles: the recurrence gives one degree of all rows at a time, training needs all degrees of some rows. A tile of T rows is
contiguous on disk, degree by degree, so that each write is one piece of T b numbers, no page is written twice, and the numbers of
a row are D + 1 pieces within one tile.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._targets import written_whole
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis

FORMAT = 1
TILE = 256  # rows of a tile: a piece is about 50 KB on ogbn-products, and the terms of a row are near each other
DTYPES = ("float32", "float16")


class BasesError(InputError):
    """The folder holds other bases than those asked for, or none."""


@dataclass(frozen=True)
class Manifest:
    """What the bases are (up to ``rows_digest``), how the files are laid out, and what training needs to know."""

    format: int
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
    tile: int
    blocks: list[list[int]]
    name: str
    metric: str
    classes: int | None
    version: str

    @property
    def tiles(self) -> int:
        return -(-self.rows // self.tile)

    @property
    def block_bytes(self) -> list[int]:
        size = np.dtype(self.dtype).itemsize
        return [self.tiles * (self.degree + 1) * self.tile * (stop - start) * size for start, stop in self.blocks]

    def difference(self, other: "Manifest") -> str | None:
        """In words, the first property in which these bases and others differ; None if they are the same."""
        words = {
            "format": "format {}",
            "graph_digest": "the graph {}",
            "features_digest": "the features {}",
            "basis": "the basis {}",
            "parameters": "basis parameters {}",
            "operator": "the operator {}",
            "degree": "degree {}",
            "dtype": "dtype {}",
            "nodes": "{} nodes",
            "features": "{} features",
            "rows": "{} rows",
            "rows_digest": "the rows {}",
        }
        for key, text in words.items():
            mine, theirs = getattr(self, key), getattr(other, key)
            if mine != theirs:
                return f"{text.format(mine)}, got {text.format(theirs)}"
        return None


def read_manifest(path: Path) -> Manifest | None:
    """None if there is no such file. A file that is no manifest is an error."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BasesError("bases", str(path), "a JSON file", got=type(error).__name__) from None
    names = {field.name for field in fields(Manifest)}
    if not isinstance(content, dict) or set(content) != names or content["format"] != FORMAT:
        raise BasesError("bases", str(path), f"a manifest of format {FORMAT}", got="something else")
    return Manifest(**content)


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")


def basis_parameters(basis: Basis) -> dict[str, Any]:
    """The numbers of a basis object: {"a": 1.0, "b": 1.0} of a Jacobi basis."""
    return {name: float(value) for name, value in vars(basis).items()}


def digest(arrays: Sequence[Any]) -> str:
    hasher = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(array)
        hasher.update(f"{array.dtype}:{array.shape};".encode())
        hasher.update(array.data)
    return hasher.hexdigest()[:16]


def operator_digest(operator: SparseOperator) -> str:
    csr = operator.csr
    return digest([part.cpu().numpy() for part in (csr.crow_indices(), csr.col_indices(), csr.values())])


def features_digest(x: Tensor | SparseOperator) -> str:
    if isinstance(x, SparseOperator):
        return operator_digest(x)
    return digest([x.detach().cpu().contiguous().to(torch.float32).numpy()])


def block_name(index: int) -> str:
    return f"block-{index:04d}.npy"
