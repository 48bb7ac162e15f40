"""Which candidate is next: a function of what is finished, so that a resumed call goes the way that an undisturbed one goes.

round 0     the default of every entry, from cheap to dear, each with an equal share of the time that is left
chance      defaults that were too slow for their share, the fastest first
rounds      half of the entries stays, by their best score, and gets twice as many draws as before
repeats     the members of the predictor once more, with other seeds, on other folds

What a phase does depends on the phases before it and on nothing else. So any number of its candidates may be in training at a
time: with a number of candidates as the budget a phase begins when the one before it has ended, and the result is the same for
any number of workers. With a budget of time no core waits: a phase begins with what is finished.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from chebnet2d.auto.candidate import Candidate, Outcome, Status
from chebnet2d.auto.choice import best_of_entries, members_of
from chebnet2d.auto.clock import TUNING, Clock
from chebnet2d.auto.draws import draw, key_of
from chebnet2d.auto.portfolio import Entry
from chebnet2d.auto.problem import Problem
from chebnet2d.auto.work import Work

ROUNDS = 4
REPEATS = 4
SECOND_CHANCE = 0.6  # of the time that is left on all slots, for a default that is slow
SURELY = 0.8  # of the time that is left: what is estimated to take longer may not come to its end
FEWEST = 2  # entries that stay to the last round
RESERVE = 1  # shares of an entry that defaults leave to what comes after them


@dataclass(frozen=True)
class Next:
    """``expected`` and ``limit``: as in ``train``."""

    candidate: Candidate
    expected: float
    limit: float


@dataclass
class Schedule:
    """``slots``: how many candidates are in training at a time."""

    problem: Problem
    entries: Sequence[Entry]
    work: Work
    clock: Clock
    inductive: bool = False
    slots: int = 1
    missed: dict[str, Status] = field(default_factory=dict)
    """By the id of a candidate, in this call; one that is tried again and finishes leaves."""
    working: dict[str, Candidate] = field(default_factory=dict)
    """By id: those that are in training."""
    _again: set[str] = field(default_factory=set)
    _draws: dict[tuple[str, int], list[Candidate]] = field(default_factory=dict)

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        return self.work.outcomes

    def next(self) -> Next | None:
        """None when there is nothing left to do, no time to do it, or nothing before one in training has ended."""
        if self.clock.left <= 0 or self.clock.used(len(self.outcomes) + len(self.working)) >= 1:
            return None
        rounds = [self._round(number) for number in range(1, ROUNDS + 1)]
        for phase in (self._defaults(), self._chances(), *rounds, self._repeats()):
            chosen = next(phase, None)
            if chosen is not None:
                return chosen
            if self.working and self.clock.budget.seconds is None:
                return None
        return None

    def _tuning_left(self) -> bool:
        """Draws have their part of the budget."""
        tuned = [*(outcome.candidate for outcome in self.outcomes.values()), *self.working.values()]
        return self.clock.used(sum(candidate.repeat == 0 for candidate in tuned)) < TUNING

    def _open(self, candidate: Candidate) -> bool:
        return all(candidate.id not in known for known in (self.outcomes, self.missed, self.working))

    def _defaults(self) -> Iterator[Next]:
        waiting = [own for own in (Candidate(e.name, 0, 0, e.recipe) for e in self.entries) if self._open(own)]
        shares = len(waiting) + len(self._slow()) + RESERVE
        for own in waiting:
            share = self.slots * self.clock.left / shares
            yield Next(own, min(self.clock.left, share), min(self.clock.left, 2 * share))

    def _chances(self) -> Iterator[Next]:
        for need, own in self._slow() if self._tuning_left() else ():
            if need <= min(SURELY, SECOND_CHANCE * self.slots) * self.clock.left:
                self._again.add(own.id)
                yield Next(own, self.clock.left, self.clock.left)

    def _slow(self) -> list[tuple[float, Candidate]]:
        """Defaults that wait for a second chance, and about the seconds that they need; the fastest first."""
        slow = []
        for own in (Candidate(entry.name, 0, 0, entry.recipe) for entry in self.entries):
            status = self.missed.get(own.id)
            if status is not None and status.need is not None and own.id not in (*self._again, *self.working):
                slow.append((status.need, own))
        return sorted(slow, key=lambda pair: pair[0])

    def _round(self, number: int) -> Iterator[Next]:
        if not self._tuning_left():
            return
        draws = range(2**number - 1, 2 ** (number + 1) - 1)
        staying = [self._drawn(entry, draws) for entry in self._staying(number, draws.start)]
        for side_by_side in zip_longest(*staying):  # the first of each entry, then the second of each
            for own in side_by_side:
                if own is not None and self._open(own) and self._usual_seconds(own) <= self.clock.left:
                    yield Next(own, self.clock.left, self.clock.left)

    def _staying(self, number: int, before: int) -> list[Entry]:
        """Entries of round ``number``, the best first: judged by what they reached with draws below ``before``."""
        known = best_of_entries([o for o in self.outcomes.values() if o.candidate.number < before])
        ranked = [entry for name in known for entry in self.entries if entry.name == name and entry.recipe.method != "majority"]
        return ranked[: max(FEWEST, -(-len(ranked) // 2**number))]

    def _drawn(self, entry: Entry, draws: range) -> list[Candidate]:
        """Changes of the best settings that earlier rounds have found."""
        key = entry.name, draws.start
        if key not in self._draws:
            before = self._finished(entry.name, draws.start)
            best = best_of_entries(before)[entry.name].candidate.recipe
            tried = {key_of(outcome.candidate.recipe) for outcome in before}
            made = []
            options: dict[str, Any] = {"seed": self.problem.seed, "inductive": self.inductive}
            for number in draws:
                recipe = draw(entry, self.problem.data, number, best, tried, **options)
                if recipe is not None:
                    tried.add(key_of(recipe))
                    made.append(Candidate(entry.name, number, 0, recipe))
            self._draws[key] = made
        return self._draws[key]

    def _finished(self, entry: str, before: int) -> list[Outcome]:
        own = [outcome for outcome in self.outcomes.values() if outcome.candidate.entry == entry]
        return [outcome for outcome in own if outcome.candidate.repeat == 0 and outcome.candidate.number < before]

    def _usual_seconds(self, candidate: Candidate) -> float:
        return best_of_entries(self._finished(candidate.entry, candidate.number))[candidate.entry].seconds

    def _repeats(self) -> Iterator[Next]:
        members = members_of(self.problem, list(self.outcomes.values()))
        for repeat in range(1, REPEATS + 1):
            for member in members:
                own = Candidate(member.candidate.entry, member.candidate.number, repeat, member.candidate.recipe)
                if self._open(own) and member.seconds <= self.clock.left and member.candidate.recipe.method != "majority":
                    yield Next(own, self.clock.left, self.clock.left)
