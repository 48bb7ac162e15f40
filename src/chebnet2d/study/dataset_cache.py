"""Datasets as the runs of a study need them: loaded once, prepared once for each transform."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d.data.any_graph import is_own_graph
from chebnet2d.recipes import Recipe


class DatasetCache:
    """Datasets prepared as recipes ask for, one dataset at a time in memory: in all preparations that were asked for.

    Where it is sent to another process, its place is taken by that process's own cache of the same root.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        self.root = root
        self._dataset: str | None = None
        self._raw: Any = None
        self._prepared: dict[str, Any] = {}
        self._digests: dict[tuple[str, str], str] = {}

    def load(self, recipe: Recipe) -> Any:
        """The recipe's dataset, prepared."""
        if self._dataset != recipe.dataset:
            self._prepared = {}
            own = is_own_graph(recipe.dataset)
            self._raw = datasets.read_graph(recipe.dataset) if own else datasets.load(recipe.dataset, root=self.root)
            self._dataset = recipe.dataset
        if recipe.transform not in self._prepared:
            self._prepared[recipe.transform] = recipe.prepare(self._raw)
        return self._prepared[recipe.transform]

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
