"""Corollary 3.2, with Theorem A.1 and Lemma A.2 of its proof: sums of the paradigms."""

import itertools
from collections.abc import Iterator

import numpy as np

from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, Case, normal, rank_one, relative_bound, with_zeros, worst_error, worst_gap

QUARTER_TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""f J is orthogonal to f for every f in the plane, so f and f J span it."""


def printed_conditions(bench: Bench) -> list[Case]:
    """Case 3 as printed: F^_m1, F^_n1, Z^_mc, Z^_nc are not 0, F^_m2 / F^_m1 != F^_n2 / F^_n1, F^_mc = F^_nc = 0."""
    cases = list(bench.cases(bench.rng("printed"), 3))
    for case in cases:
        case.f[0], case.f[1] = (1, 2, 0), (1, 3, 0)
        case.z[0, 2], case.z[1, 2] = 5, 7
    return cases


def corrected(bench: Bench, channels: int) -> list[Case]:
    """Rows m and n of F^ are one vector that is 0 in two columns; the 2 x 2 block of Z^ there has rank 2."""
    rng = bench.rng(f"corrected {channels}")
    cases = []
    for case in bench.cases(rng, channels):
        case.f[0, -2:] = 0.0
        case.f[1] = case.f[0]
        case.z[:2, -2:] = [[1, 0], [0, 1]] + 0.1 * rng.standard_normal((2, 2))
        cases.append(case)
    return cases


def parallel(bench: Bench, channels: int, rows: int) -> list[Case]:
    """The first rows of F^ are multiples of one vector, the others are generic: F^ has full column rank."""
    rng = bench.rng(f"parallel {channels} {rows}")
    cases = []
    for case in bench.cases(rng, channels):
        case.f[:rows] = normal(rng, rows, 1) * case.f[0]
        case.z[:rows] = np.eye(rows, channels) + 0.1 * rng.standard_normal((rows, channels))
        cases.append(case)
    return cases


def claims(bench: Bench) -> Iterator[Claim]:
    yield from _twice_the_same(bench)
    yield from _all_three(bench)
    yield from _two_channels(bench)


def _twice_the_same(bench: Bench) -> Iterator[Claim]:
    results = [case.construct("II+II") for case in bench.cases(bench.rng("low rank of sums"), 3, rank_one)]
    yield line("corollary3.2-II+II-rank", relative_bound(results))
    yield line("corollary3.2-II+II-best", worst_gap(results))
    cases = parallel(bench, 3, 3)
    bound = relative_bound([case.construct("II+II", restarts=1) for case in cases])
    yield _roth(bench)
    yield line("theoremA.1-applied", bound if all(_roth_holds(bench, case) for case in cases) else np.nan)
    pairs = [(case.construct("III+III"), case.construct("III")) for case in bench.cases(bench.rng("III twice"), 3, with_zeros)]
    yield line("corollary3.2-III+III", max(abs(double.error - single.error) for double, single in pairs))


def _roth(bench: Bench) -> Claim:
    """A X - Y B = C with A 6 x 3 and B 3 x 5 of rank 2; every other C is made from an X and a Y."""
    rng = bench.rng("roth's theorem")
    wrong = 0
    for i in range(60):
        a, b = (
            rng.standard_normal((6, 2)) @ rng.standard_normal((2, 3)),
            rng.standard_normal((3, 2)) @ rng.standard_normal((2, 5)),
        )
        c = a @ rng.standard_normal((3, 5)) - rng.standard_normal((6, 3)) @ b if i % 2 else rng.standard_normal((6, 5))
        block = np.block([[a, c], [np.zeros((3, 3)), b]])
        system = np.concatenate([np.kron(a, np.eye(5)), -np.kron(np.eye(6), b.T)], axis=1)
        rest = c.reshape(-1) - system @ np.linalg.lstsq(system, c.reshape(-1), rcond=1e-12)[0]
        wrong += (np.linalg.matrix_rank(block) == 4) != (np.linalg.norm(rest) < 1e-9)
    return line("theoremA.1", wrong)


def _roth_holds(bench: Bench, case: Case) -> bool:
    """rank [[F, p^-1 Z V^-1], [0, F]] = 2 rank(F) for random p and V."""
    rng = bench.rng("roth")
    nodes, channels = case.f.shape
    for _ in range(5):
        scaled = normal(rng, nodes, 1) * case.z @ rng.standard_normal((channels, channels))
        block = np.block([[case.f, scaled], [np.zeros_like(case.f), case.f]])
        if np.linalg.matrix_rank(block) != 2 * np.linalg.matrix_rank(case.f):
            return False
    return True


def _all_three(bench: Bench) -> Iterator[Claim]:
    x, y, u = np.array([1.0, 2, 0]), np.array([1.0, 3, 0]), np.array([1.0, 0, 0])
    yield line("lemmaA.2", min(abs(x @ u), abs(y @ u)))
    yield line("corollary3.2-printed", worst_error([case.construct("I+II+III") for case in printed_conditions(bench)]))
    results = [case.construct("I+II+III") for channels in (3, 4, 5) for case in corrected(bench, channels)]
    yield line("corollary3.2-corrected", relative_bound(results))
    yield line("corollary3.2-corrected-best", worst_gap(results))
    sums = ["+".join(pair) for pair in itertools.combinations_with_replacement(("I", "II", "III"), 2)]
    flat, cases = list(bench.cases(bench.rng("pairs"), 3, rank_one)), corrected(bench, 3)
    results = [case.construct(s, restarts=1) for s in sums for case in (flat if s in ("I+II", "II+II") else cases)]
    yield line("corollary3.2-pairs", relative_bound(results))


def _two_channels(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("two channels")
    cases = [Case.drawn(graph, rng, 2, with_zeros) for graph in bench.graphs for _ in range(10)]
    for paradigm in ("I+II+III", "I+II", "II+III", "II+II"):
        error = worst_error([case.construct(paradigm) for case in cases])
        yield line("corollary3.2-C2-{paradigm}", error, paradigm=paradigm, count=len(cases))
    errors = []
    for case in cases:
        squares = (case.f * case.f).sum(axis=1, keepdims=True)
        turned = case.f @ QUARTER_TURN
        along = (case.z * case.f).sum(axis=1, keepdims=True) / squares
        across = (case.z * turned).sum(axis=1, keepdims=True) / squares
        errors.append(float(np.linalg.norm(along * case.f + across * turned - case.z)))
    yield line("corollary3.2-C2-turn", max(errors), count=len(cases))
    results = [case.construct(paradigm) for paradigm in ("I+I", "I+III", "III+III") for case in cases]
    yield line("corollary3.2-C2-diagonal", relative_bound(results))
