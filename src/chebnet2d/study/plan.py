"""From a protocol to units: runs of a few stacks, trained together and committed together.

Rounding depends on which runs share a stack, so stacks are a pure function of the protocol, the data and the recipes, never of
what happened to be finished when a study was started again.
"""

import hashlib
import inspect
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d.models import find_model
from chebnet2d.recipes import Recipe
from chebnet2d.study.protocol import Protocol
from chebnet2d.training import Settings, stack_width

STACKS_PER_UNIT = 4


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


@dataclass(frozen=True)
class Unit:
    """Runs of one method on one dataset, in stacks of ``width``: (split seed, initialisation seed) for each run.

    ``code_digest``: of the file of an outside method; "" for methods of the package.
    """

    position: int
    method: str
    dataset: str
    dataset_digest: str
    recipe: Recipe
    split: str
    seeds: tuple[tuple[int, int], ...]
    width: int
    code_digest: str = ""

    @cached_property
    def id(self) -> str:
        return self._digest(self.seeds, self.width)

    def run_id(self, split_seed: int, seed: int) -> str:
        return self._digest(split_seed, seed)

    def _digest(self, *seeds: Any) -> str:
        """Of what the numbers depend on. Its form must stay: runs of earlier studies are found by it."""
        code = [self.code_digest] if self.code_digest else []
        facts = [self.method, self.dataset_digest, self.recipe.identity(), self.split, *code, *seeds]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def make_plan(protocol: Protocol, cache: DatasetCache) -> Iterator[Unit]:
    """All units, dataset by dataset, so that each is loaded once. What no run could be made of raises an error here."""
    number = itertools.count()
    splits = range(protocol.first_seed, protocol.first_seed + protocol.splits)
    seeds = [(split, split * protocol.inits + init) for split in splits for init in range(protocol.inits)]
    for dataset in protocol.datasets:
        for method in protocol.methods:
            recipe = protocol.recipe(method, dataset)
            data, digest, code = cache.load(recipe), cache.digest(recipe), code_digest(method)
            Settings.of(**recipe.settings)
            model = recipe.build(data)
            if method == protocol.methods[0]:
                for kind in protocol.split_kinds:
                    datasets.split(data, kind, seed=seeds[-1][0])  # of fixed splits there may be fewer
            width = stack_width(model, data) if protocol.width is None else protocol.width
            # Enough stacks to keep some cores busy, few enough that an interruption costs little.
            size = -(-len(seeds) // -(-len(seeds) // (STACKS_PER_UNIT * width)))
            for kind in protocol.split_kinds:
                for start in range(0, len(seeds), size):
                    runs = tuple(seeds[start : start + size])
                    yield Unit(next(number), method, dataset, digest, recipe, kind, runs, width, code)


def code_digest(method: str) -> str:
    """Of the file that defines an outside method, on which its numbers depend; "" for methods of the package."""
    cls = find_model(method)
    if cls.__module__.startswith("chebnet2d."):
        return ""
    try:
        file = inspect.getsourcefile(cls)
        return hashlib.sha256(Path(file or "").read_bytes()).hexdigest()[:16]
    except (OSError, TypeError):  # it was typed in an interactive session
        return "no file"
