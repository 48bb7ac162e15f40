"""What a study will cost, before it is run: a few epochs of the first stack of each method on each dataset, nothing written."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice, pairwise
from pathlib import Path
from statistics import median

from chebnet2d import data as datasets
from chebnet2d._checks import real
from chebnet2d.study.dataset_cache import DatasetCache
from chebnet2d.study.export import read_all
from chebnet2d.study.peak import PeakMemory
from chebnet2d.study.plan import make_plan
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.store import Store
from chebnet2d.study.units import Unit
from chebnet2d.training import fit_many, stack_width
from chebnet2d.training.pruning import Standing

EPOCHS = 4


@dataclass(frozen=True)
class Estimate:
    """A method on a dataset: what is left to do, and what that takes where no run stops early, one stack after the other.

    ``epoch_seconds`` and ``peak_mib``: of one stack, as measured; ``measured``: over how many epochs. None where nothing is left.
    """

    method: str
    dataset: str
    runs: int
    units: int
    stacks: int
    epochs: int
    measured: int
    epoch_seconds: float | None
    seconds: float
    peak_mib: float | None


def estimate_study(
    protocol: Protocol,
    store_path: str | Path | None = None,
    *,
    root: str | Path | None = None,
    reuse: Sequence[str | Path] = (),
    seconds: float = 10.0,
    progress: Callable[[int, int, Unit], None] | None = None,
) -> list[Estimate]:
    """Measure each method on each dataset.

    Args:
        store_path: a study that has begun, whose finished units are not counted; it is only read.
        reuse: other studies, whose runs are not counted either.
        seconds: for each method and dataset. The epoch in which they end is the last, so that at least one is measured.
        progress: called before each measurement with its number, how many there are, and its unit.
    """
    real("estimate_study", "seconds", seconds, 0)
    done = {row["unit_id"] for other in reuse for row in read_all(other)}
    if store_path is not None and Path(store_path).exists():
        with Store(store_path, create=False) as store:
            done |= store.finished()
    cache = DatasetCache(root)
    cells: dict[tuple[str, str], list[Unit]] = {}
    for unit in make_plan(protocol, cache):
        cells.setdefault((unit.method, unit.dataset), []).append(unit)
    found = []
    for number, units in enumerate(cells.values()):
        if progress is not None:
            progress(number, len(cells), units[0])
        left = [unit for unit in units if unit.id not in done]
        epochs = int(units[0].recipe.settings["epochs"])
        if left:
            found.append(_measured(left, epochs, cache, seconds))
        else:
            found.append(Estimate(units[0].method, units[0].dataset, 0, 0, 0, epochs, 0, None, 0.0, None))
    return found


@dataclass(frozen=True)
class _TimeLimit:
    """A ``Pruner`` that lets all runs leave when the time is up."""

    seconds: float
    rungs: Sequence[int] = ()

    def leaving(self, standings: Sequence[Standing]) -> Collection[int]:
        return ()


def _measured(units: Sequence[Unit], epochs: int, cache: DatasetCache, seconds: float) -> Estimate:
    """By the recipe of the first unit: points of a search cost more or less than that, and those that leave at a rung less."""
    first = units[0]
    recipe = replace(first.recipe, settings={**first.recipe.settings, "epochs": min(EPOCHS, epochs), "patience": EPOCHS})
    with PeakMemory() as peak:
        data = cache.load(first.recipe)
        widest = stack_width(first.recipe.build(data), data) if first.width is None else first.width
        stacks = sum(-(-unit.size // widest) for unit in units)
        width = -(-first.size // -(-first.size // widest))
        splits = [
            (datasets.split(data, first.split, seed=split_seed), seed) for split_seed, seed in islice(cycle(first.seeds), width)
        ]
        runs = recipe.runs(data, splits)
        ends = [time.perf_counter()]
        limit = _TimeLimit(seconds)
        fit_many(runs, data, width=width, test=False, pruner=limit, progress=lambda _: ends.append(time.perf_counter()))
    steps = [end - begin for begin, end in pairwise(ends)]
    epoch = median(steps[1:] or steps)  # the first one makes operators that the others find ready
    facts = (sum(unit.size for unit in units), len(units), stacks, epochs, len(steps))
    return Estimate(first.method, first.dataset, *facts, epoch, stacks * epochs * epoch, round(peak.mib, 1))
