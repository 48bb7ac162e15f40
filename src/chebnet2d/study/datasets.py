"""Datasets as a study uses them."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d.recipes import Recipe


class DatasetCache:
    """Datasets prepared as recipes ask for: each is loaded and transformed once in a row, one at a time is in memory.

    Where it is sent to another process, its place is taken by that process's own cache of the same root.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        self.root = root
        self._key: tuple[str, str] | None = None
        self._data: Any = None
        self._digests: dict[tuple[str, str], str] = {}

    def load(self, recipe: Recipe) -> Any:
        """The recipe's dataset, prepared."""
        key = (recipe.dataset, recipe.transform)
        if self._key != key:
            self._key, self._data = key, recipe.prepare(datasets.load(recipe.dataset, root=self.root))
        return self._data

    def digest(self, recipe: Recipe) -> str:
        """Of the prepared dataset."""
        key = (recipe.dataset, recipe.transform)
        if key not in self._digests:
            self._digests[key] = datasets.dataset_digest(self.load(recipe))
        return self._digests[key]

    def __reduce__(self) -> Any:  # another process may have another working directory and another environment
        return _cache_of_process, (datasets.data_root(self.root).absolute(),)


@lru_cache(maxsize=1)
def _cache_of_process(root: Path) -> DatasetCache:
    """One for all units that a process trains."""
    return DatasetCache(root)
