"""The features of all nodes, in blocks of columns, and how they become one matrix."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.feature_blocks import Block, Dense
from chebnet2d.preparation.joining import DENSE_LIMIT, joined

FILL = "Fill such values with 'zero' or 'mean' by {}."


@dataclass
class Features:
    """What a source says about the nodes' features. ``ids`` is ``None`` if its rows are the nodes 0..rows - 1."""

    label: str
    rows: int
    blocks: list[Block]
    ids: Any = None
    names: list[str] | None = None
    sparse: bool = False
    raw: Any = None
    """An Arrow table of raw columns, instead of the blocks."""
    roles: dict[str, Tensor] = field(default_factory=dict)
    """What is said about the parts of a split, by the attribute of the ``Data``."""

    @property
    def present(self) -> bool:
        """Whether it says something about features at all, and not only about ids and labels."""
        return bool(self.blocks) or (self.raw is not None and self.raw.num_columns > 0)

    def matrix(self, order: Any, missing: str) -> Tensor:
        """N x F for the nodes, ``order[n]`` being the row of node n or -1. Float32, dense or torch CSR."""
        parts = []
        for block in self.blocks:
            if missing == "keep":  # for the preparation to fill
                parts.append(block.rows(order, np.full(block.width, np.nan if isinstance(block, Dense) else 0.0)))
                continue
            place = block.missing() if missing == "error" else None
            if place is not None:
                raise InputError("", place, "a value", got="none", hint=FILL, mentions=("missing_features",), verb="have")
            parts.append(block.rows(order, block.means() if missing == "mean" else np.zeros(block.width)))
        return joined(parts, len(order), sparse=self.sparse, limit=DENSE_LIMIT)
