"""From a protocol to units of work. A unit is a few stacks of runs: trained together, committed together.

Rounding depends on who shares a stack, so stacks are a pure function of the protocol, the data and the presets, never of what
happened to be finished when a study was started again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d.recipes.build import build_model
from chebnet2d.recipes.preset_files import NO_TRANSFORM, Preset
from chebnet2d.study.protocol import Protocol, digest_of
from chebnet2d.training import Run, Settings, stack_width

STACKS_IN_A_UNIT = 4


@dataclass(frozen=True)
class Unit:
    """Runs of one method on one dataset, in stacks of ``width``: (split seed, initialisation seed) for each run."""

    position: int
    method: str
    dataset: str
    dataset_digest: str
    preset: Preset
    split: str
    seeds: tuple[tuple[int, int], ...]
    width: int

    @property
    def id(self) -> str:
        return digest_of([*self._what, self.seeds, self.width])

    def run_id(self, split_seed: int, seed: int) -> str:
        return digest_of([*self._what, split_seed, seed])

    @property
    def _what(self) -> list[Any]:
        """Everything that the numbers depend on besides seeds; where a preset comes from is not among it."""
        return [self.method, self.dataset_digest, {**self.preset.as_json(), "origin": ""}, self.split]


class Catalogue:
    """Datasets as a study uses them: loaded and transformed once, one at a time in memory."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root
        self._key: tuple[str, str] | None = None
        self._data: Any = None
        self._digests: dict[tuple[str, str], str] = {}

    def load(self, dataset: str, transform: str) -> Any:
        key = (dataset, transform)
        if self._key != key:
            data = datasets.load(dataset, root=self.root)
            self._data = data if transform == NO_TRANSFORM else datasets.TRANSFORMS[transform](data)
            self._key = key
        return self._data

    def digest(self, dataset: str, transform: str) -> str:
        key = (dataset, transform)
        if key not in self._digests:
            self._digests[key] = datasets.dataset_digest(self.load(dataset, transform))
        return self._digests[key]


def make_plan(protocol: Protocol, catalogue: Catalogue) -> Iterator[Unit]:
    """All units, dataset by dataset, so that each is loaded once. What no run could be made of is told here."""
    position = 0
    seeds = [
        (protocol.first_seed + s, (protocol.first_seed + s) * protocol.inits + i)
        for s in range(protocol.splits)
        for i in range(protocol.inits)
    ]
    for dataset in protocol.datasets:
        for method in protocol.methods:
            preset = protocol.preset(method, dataset)
            data = catalogue.load(dataset, preset.transform)
            digest = catalogue.digest(dataset, preset.transform)
            Settings.of(**preset.settings)
            model = build_model(preset.method, data, dict(preset.model))
            if method == protocol.methods[0]:
                for split in protocol.split_names:
                    datasets.split(data, split, seed=seeds[-1][0])  # of fixed splits there may be fewer
            width = protocol.width
            if width is None:
                width = stack_width(model, data)
            # Enough stacks to keep some cores busy, few enough that an interruption costs little.
            size = -(-len(seeds) // -(-len(seeds) // (STACKS_IN_A_UNIT * width)))
            for split in protocol.split_names:
                for start in range(0, len(seeds), size):
                    runs = tuple(seeds[start : start + size])
                    yield Unit(position, method, dataset, digest, preset, split, runs, width)
                    position += 1


def make_runs(unit: Unit, data: Any) -> list[Run]:
    settings = Settings.of(**unit.preset.settings)
    return [
        Run(
            build_model(unit.preset.method, data, dict(unit.preset.model)),
            datasets.split(data, unit.split, seed=split_seed),
            seed,
            settings,
        )
        for split_seed, seed in unit.seeds
    ]
