"""A category: a column of 0 and 1 for each frequent word, one for all others, one for gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse

from chebnet2d.preparation.arrays import as_words
from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded

LARGEST = 100
"""Words with a column of their own at most."""
RARE = 0.002
"""Words of a smaller share, or of one node alone, are folded into "other"."""


@KINDS.register("category")
@dataclass(frozen=True)
class Category(ColumnKind):
    """``rare``: words that were folded together; unknown ones of other graphs go there too, if there is such a column."""

    kind = "category"
    words: Sequence[str]
    rare: int
    gaps: bool

    @classmethod
    def fit(cls, name: str, words: Any) -> "Category":
        counts = pc.value_counts(words.drop_null())
        pairs = sorted(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))
        least = max(2, RARE * (len(words) - words.null_count))
        frequent = sorted((pair for pair in pairs if pair[1] >= least), key=lambda pair: -pair[1])[:LARGEST]
        kept = sorted(word for word, _ in frequent)
        return cls(name, kept, len(pairs) - len(kept), words.null_count > 0)

    @property
    def features(self) -> list[str]:
        own = [f"{self.name}={word}" for word in self.words]
        return own + [f"{self.name} is another"] * (self.rare > 0) + [f"{self.name} is missing"] * self.gaps

    def encode(self, array: Any) -> Encoded:
        words = as_words(array)
        gap = np.asarray(words.is_null())
        found = np.asarray(pc.index_in(words, value_set=pa.array(self.words, pa.string())).fill_null(-1)).astype(np.int64)
        other = (found < 0) & ~gap
        column = np.where(other, len(self.words) if self.rare else -1, found)
        if self.gaps:
            column[gap] = len(self.words) + (self.rare > 0)
        rows = np.flatnonzero(column >= 0)
        entries = (np.ones(rows.size, dtype=np.float32), (rows, column[rows]))
        matrix = scipy.sparse.csr_array(entries, shape=(len(array), len(self.features)))
        return Encoded(matrix, int(gap.sum()), 0, int(other.sum()))

    @property
    def became(self) -> str:
        others = f", {self.rare} rare ones as another" if self.rare else ""
        return f"{len(self.words)} categories{others}" + (", and 1 where it is missing" if self.gaps else "")
