"""Which points of a space are tried next, and what came out: Optuna's samplers and storage, asked and told in groups.

A group is asked of a study in memory, which is quick; its trials are added to the storage when all of them have ended, and count
there once the last thing is written, a mark of the group. So a search that is killed, between two groups or while it writes one,
leaves whole groups behind and goes on from them. The sampler is made anew for every group from the seed and the number of
finished trials: the search then asks what it would have asked anyway.
Several groups may be in training at a time; the sampler takes their trials for bad ones until they are told.
"""

import json
import math
import sqlite3
import uuid
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d._targets import check_target
from chebnet2d.search.result import Trial
from chebnet2d.search.space import Space

SAMPLERS = ("tpe", "random", "grid")
STARTUP = 10  # trials that must have ended before "tpe" learns from them; until then its points are random
_GROUP = "group"  # attribute of a trial: whose trials count once the study has the attribute "group:<that>"
_ATTEMPTS = 3  # a sampler may ask for points that are known; after so many for each one wanted, points come from the grid


@dataclass(frozen=True, eq=False)
class Asked:
    """A point to be tried. ``positions``: one for each axis of the space. ``handle``: Optuna's own trial."""

    handle: Any
    positions: Mapping[str, int]


class Trials:
    """The trials of one search. ``facts``: what must not change when a search goes on from its storage."""

    def __init__(
        self, name: str, space: Space, sampler: str, seed: int, storage: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        try:
            import optuna
        except ImportError:
            hint = "Run: pip install 'chebnet2d[search]'"
            raise InputError("search", "optuna", "installed", got="no such package", hint=hint) from None
        self._samplers, self._states = optuna.samplers, optuna.trial.TrialState
        self.space, self.sampler, self.seed = space, sampler, seed
        # Positions, not values: neighbours on the grid are neighbours for the sampler, whatever their ratio.
        ordered, unordered = optuna.distributions.IntDistribution, optuna.distributions.CategoricalDistribution
        self._distributions = {
            axis.name: ordered(0, len(axis.values) - 1) if axis.ordered else unordered(tuple(range(len(axis.values))))
            for axis in space.axes
            if len(axis.values) > 1
        }
        self._storage = None if storage is None else _open_storage(optuna, storage)
        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # "a new study was created" is no news here
        try:
            self._memory = optuna.create_study(direction="maximize")
            self._kept = None
            if self._storage is not None:
                known = {"storage": self._storage, "study_name": name, "load_if_exists": True}
                self._kept = optuna.create_study(direction="maximize", **known)
                self._check_facts(name, json.loads(json.dumps(facts or {})))
                self._memory.add_trials(self._whole_groups())
        except BaseException:
            self.close()
            raise
        finally:
            optuna.logging.set_verbosity(verbosity)
        self._failed: list[Any] = []  # stored with the next group, so that they are not asked again
        earlier = self._memory.get_trials(deepcopy=False)
        # In the order in which they were told, which need not be the order of asking.
        self.finished = [Trial(**trial.user_attrs["record"]) for trial in earlier if "record" in trial.user_attrs]
        self._known = {self._key(trial.params) for trial in earlier}
        self._grid = (point for point in space.every_point(seed) if self._key(point) not in self._known)

    def close(self) -> None:
        if self._storage is not None:
            self._storage.remove_session()
            self._storage.engine.dispose()

    def ask(self, count: int, first: Mapping[str, int] | None = None) -> list[Asked]:
        """Up to ``count`` points that were not tried before; fewer only where the space has no more.

        ``first``: a point to begin with, if it is not known yet.
        """
        running = len(self._memory.get_trials(deepcopy=False, states=(self._states.RUNNING,)))
        # Groups that are asked for between two ends must not draw the same numbers.
        numbers = [self.seed, len(self.finished), *([running] if running else [])]
        seed = int(np.random.SeedSequence(numbers).generate_state(1)[0])
        if self.sampler == "tpe":
            # The lie makes running trials count as bad ones: the points of a group keep away from each other.
            options = {"multivariate": True, "constant_liar": True, "n_startup_trials": STARTUP}
            self._memory.sampler = self._samplers.TPESampler(seed=seed, **options)
        else:
            self._memory.sampler = self._samplers.RandomSampler(seed=seed)
        asked: list[Asked] = []
        if first is not None and self._key(first) not in self._known:
            asked.append(self._ask_for(first))
        if self.sampler != "grid":
            for _ in range(_ATTEMPTS * count):
                if len(asked) < count:
                    asked += self._accept(self._memory.ask(self._distributions))
        while len(asked) < count and (point := next(self._grid, None)) is not None:
            asked.append(self._ask_for(point))
        return asked

    def _ask_for(self, positions: Mapping[str, int]) -> Asked:
        self._memory.enqueue_trial({name: positions[name] for name in self._distributions})
        return self._accept(self._memory.ask(self._distributions))[0]

    def _accept(self, trial: Any) -> list[Asked]:
        key = self._key(trial.params)
        if key in self._known:
            self._memory.tell(trial, state=self._states.FAIL)
            return []
        self._known.add(key)
        return [Asked(trial, {axis.name: trial.params.get(axis.name, 0) for axis in self.space.axes})]

    def tell(self, told: Iterable[tuple[Asked, Trial, Mapping[int, float]]]) -> list[Trial]:
        """What the points of a group have reached: those that count, without points whose score is not a number.

        The mapping of each is epoch -> score so far; the last one is the score of a trial that was pruned.
        """
        group, finished, ended = uuid.uuid4().hex, [], []
        for asked, trial, steps in told:
            if math.isnan(trial.val_metric):
                self.fail(asked)
                continue
            asked.handle.set_user_attr("record", asdict(trial))
            asked.handle.set_user_attr(_GROUP, group)
            for step, value in steps.items():
                asked.handle.report(value, step)
            state = {"state": self._states.PRUNED} if trial.pruned else {"values": trial.val_metric}
            ended.append(self._memory.tell(asked.handle, **state))
            finished.append(trial)
        if self._kept is not None:
            for trial in self._failed:
                trial.user_attrs[_GROUP] = group
            self._kept.add_trials([*self._failed, *ended])
            self._kept.set_user_attr(f"{_GROUP}:{group}", True)
        self._failed.clear()
        self.finished += finished
        return finished

    def fail(self, asked: Asked) -> None:
        """The point cannot be tried, and is not asked again."""
        self._failed.append(self._memory.tell(asked.handle, state=self._states.FAIL))

    def _whole_groups(self) -> list[Any]:
        """The trials of the storage without those of a group whose writer was killed. Older storages have no groups."""
        assert self._kept is not None
        whole = {name.partition(":")[2] for name in self._kept.user_attrs if name.startswith(f"{_GROUP}:")}
        return [trial for trial in self._kept.get_trials(deepcopy=False) if trial.user_attrs.get(_GROUP) in {None, *whole}]

    @property
    def baseline(self) -> Trial | None:
        """Settings that need not be a point of the space, for comparison."""
        record = (self._kept or self._memory).user_attrs.get("baseline")
        return None if record is None else Trial(**record)

    @baseline.setter
    def baseline(self, trial: Trial) -> None:
        (self._kept or self._memory).set_user_attr("baseline", asdict(trial))

    def _key(self, positions: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(positions[name] for name in self._distributions)

    def _check_facts(self, name: str, facts: dict[str, Any]) -> None:
        assert self._kept is not None
        known = self._kept.user_attrs.get("facts")
        if known is None and self._kept.get_trials(deepcopy=False):
            got = f"a study {name!r} that is something else"
            raise InputError("search", "the storage", "searches of chebnet2d", got=got, verb="hold")
        if known is None:
            self._kept.set_user_attr("facts", facts)
        elif known != facts:
            got = f"one whose {', '.join(fact for fact in facts if known.get(fact) != facts[fact])} differ"
            hint = "Use another storage, or the settings it was begun with."
            raise InputError("search", "the storage", "a search with the same settings", got=got, hint=hint, verb="hold")


def _open_storage(optuna: Any, url: str) -> Any:
    from sqlalchemy.exc import SQLAlchemyError

    rule = "the address of a database like sqlite:///search.db"
    if not isinstance(url, str) or "://" not in url:
        raise InputError("search", "storage", rule, url)
    if url.startswith("sqlite:///"):
        file = Path(url.removeprefix("sqlite:///"))
        check_target("search", "storage", file)
        _check_database(file)
        file.parent.mkdir(parents=True, exist_ok=True)
    try:
        return optuna.storages.RDBStorage(url)
    except (SQLAlchemyError, ImportError, RuntimeError) as error:
        raise InputError("search", "storage", rule, got=f"{url!r}: {str(error).splitlines()[0]}") from None


def _check_database(file: Path) -> None:
    """Optuna makes its tables in any database: not in one that holds something else."""
    if not file.exists() or not file.stat().st_size:
        return
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:  # Optuna says what is wrong, and changes nothing
        return
    if tables and not {"studies", "trials", "version_info"} <= tables:
        got = f"{str(file)!r}, which is something else"
        raise InputError("search", "storage", "a new file or a storage of Optuna", got=got)
