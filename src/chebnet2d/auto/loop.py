"""Train one candidate after the other until the budget is spent."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from chebnet2d.auto.candidate import Candidate
from chebnet2d.auto.choice import best_of_entries
from chebnet2d.auto.schedule import Schedule
from chebnet2d.auto.training import train
from chebnet2d.cluster import Executor, LocalExecutor, ProcessExecutor
from chebnet2d.search import Budget
from chebnet2d.training import EpochProgress

BUDGET, EVERYTHING, INTERRUPTED = "budget", "nothing left to try", "interrupted"


@dataclass(frozen=True)
class AutoProgress:
    """After every epoch, and after every candidate (``epoch`` is None). ``best``: (entry, score) so far."""

    finished: int
    training: str
    seconds: float
    budget: Budget
    best: tuple[str, float] | None
    epoch: EpochProgress | None


def run_schedule(
    schedule: Schedule, progress: Callable[[AutoProgress], None] | None = None, executor: Executor | None = None
) -> str:
    """Why it ended. Ctrl-C ends it too: what is finished stays.

    An executor with several slots trains as many candidates at a time. With a budget of time, which come next then depends on
    which are done first.
    """
    work, clock = schedule.work, schedule.clock
    clock.spent = work.seconds
    executor = LocalExecutor() if executor is None else executor
    schedule.slots = executor.slots
    beside = executor.slots if isinstance(executor, ProcessExecutor) else 1

    def report(training: str, epoch: EpochProgress | None) -> None:
        if progress is not None:
            found = next(iter(best_of_entries(list(work.outcomes.values())).items()), None)
            best = None if found is None else (found[0], found[1].score)
            progress(AutoProgress(len(work.outcomes), training, clock.seconds, clock.budget, best, epoch))

    def tasks() -> Iterator[tuple[str, tuple[Candidate, float, float]]]:
        while (chosen := schedule.next()) is not None:
            own = chosen.candidate
            schedule.working[own.id] = own
            yield own.id, (own, chosen.expected, chosen.limit)

    def watch(now: EpochProgress) -> None:
        report(next(own.entry for own in schedule.working.values()), now)  # in this process one is trained at a time

    try:
        _tidy(schedule)
        more, call = True, partial(train, beside=beside)
        while more:  # tasks may end while candidates are in work whose results allow others
            more = False
            left = None if math.isinf(clock.left) else max(clock.left, 0.0)
            for name, trained in executor.run(call, tasks(), shared=schedule.problem, seconds=left, report=watch):
                more = True
                ended = schedule.working.pop(name)
                if isinstance(trained, tuple):
                    outcome, answers, models = trained
                    work.put(outcome, answers, models, clock.seconds)
                    schedule.missed.pop(name, None)
                    _tidy(schedule)
                else:
                    schedule.missed[name] = trained
                report(", ".join(own.entry for own in schedule.working.values()) or ended.entry, None)
            schedule.working.clear()  # what was cut off elsewhere because the time was up
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        work.note(clock.seconds)
    return EVERYTHING if clock.left > 0 and clock.used(len(work.outcomes)) < 1 else BUDGET


def _tidy(schedule: Schedule) -> None:
    """Of each entry the models of its best candidate stay: the folder does not grow with the number of draws."""
    outcomes = list(schedule.outcomes.values())
    best = {(o.candidate.entry, o.candidate.number) for o in best_of_entries(outcomes).values()}
    for outcome in outcomes:
        if (outcome.candidate.entry, outcome.candidate.number) not in best:
            schedule.work.forget(outcome)
