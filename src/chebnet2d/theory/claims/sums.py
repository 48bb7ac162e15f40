"""Corollary 1: sums of the paradigms."""

import itertools
from collections.abc import Iterator
from functools import partial

import numpy as np

from chebnet2d.theory.claim import Claim
from chebnet2d.theory.claims.bench import Bench, Case, normal, relative_bound, with_zeros, worst_error
from chebnet2d.theory.claims.one_paradigm import VISIBLE

SECTION = "sums"
_claim = partial(Claim, section=SECTION)
_added = partial(Claim, section=SECTION, paper="silent", verdict="added")
_WHERE = "on the karate club and 4 random graphs"
QUARTER_TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""f J is orthogonal to f for every f in the plane, so f and f J span it."""


def printed_conditions(bench: Bench, channels: int = 3) -> list[Case]:
    """Case 3 as printed: F^_m1, F^_n1, Z^_mc, Z^_nc are not 0, F^_m2 / F^_m1 != F^_n2 / F^_n1, F^_mc = F^_nc = 0."""
    rng = bench.rng("printed")
    cases = []
    for graph in bench.graphs:
        f, z = normal(rng, graph.num_nodes, channels), normal(rng, graph.num_nodes, channels)
        f[0, :3], f[1, :3] = (1, 2, 0), (1, 3, 0)
        z[0, 2], z[1, 2] = 5, 7
        cases.append(Case(graph, f, z))
    return cases


def corrected(bench: Bench, channels: int) -> list[Case]:
    """Rows m and n of F^ are one vector that is 0 in two columns; the 2 x 2 block of Z^ there has rank 2."""
    rng = bench.rng(f"corrected {channels}")
    cases = []
    for graph in bench.graphs:
        f, z = normal(rng, graph.num_nodes, channels), normal(rng, graph.num_nodes, channels)
        f[0, -2:] = 0.0
        f[1] = f[0]
        z[:2, -2:] = [[1, 0], [0, 1]] + 0.1 * rng.standard_normal((2, 2))
        cases.append(Case(graph, f, z))
    return cases


def parallel(bench: Bench, channels: int, rows: int) -> list[Case]:
    """The first rows of F^ are multiples of one vector, the others are generic: F^ has full column rank."""
    rng = bench.rng(f"parallel {channels} {rows}")
    cases = []
    for graph in bench.graphs:
        f, z = normal(rng, graph.num_nodes, channels), normal(rng, graph.num_nodes, channels)
        f[:rows] = normal(rng, rows, 1) * f[0]
        z[:rows] = np.eye(rows, channels) + 0.1 * rng.standard_normal((rows, channels))
        cases.append(Case(graph, f, z))
    return cases


def claims(bench: Bench) -> Iterator[Claim]:
    yield from _twice_the_same(bench)
    yield from _all_three(bench)
    yield from _two_channels(bench)


def _twice_the_same(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("low rank of sums")
    cases = [
        Case(graph, normal(rng, graph.num_nodes, 1) @ normal(rng, 1, 3), normal(rng, graph.num_nodes, 3))
        for graph in bench.graphs
    ]
    results = [case.construct("II+II") for case in cases]
    yield _claim(
        key="corollary-II+II-rank",
        claim="II+II misses every target with rank(Z) > 2 rank(F), which needs C >= 3",
        paper="Corollary 1, case 1: so it says",
        verdict="holds",
        quantity=f"smallest certified error / ||Z|| {_WHERE}",
        measured=relative_bound(results),
        relation=">",
        bound=VISIBLE,
    )
    yield _added(
        key="corollary-II+II-optimal",
        claim="there the bound is reached: the best error is that of the best approximation of rank 2 rank(F)",
        quantity="largest (error - lower bound) / ||Z||",
        measured=max((result.error - result.lower_bound) / result.scale for result in results),
        relation="<",
        bound=1e-8,
    )
    cases = parallel(bench, 3, 3)
    yield _claim(
        key="corollary-II+II-roth",
        claim="Roth's condition is necessary only: with F^ of full column rank it holds for all p, V and Z, and II+II still "
        "misses targets (3 parallel rows of F^, rank 3 in Z^)",
        paper="Corollary 1, case 1: II+II reaches Z if and only if Roth's condition holds for some p and V",
        verdict="fails",
        quantity=f"smallest certified error / ||Z|| {_WHERE}, Roth's condition checked for 5 random p, V each",
        measured=relative_bound([case.construct("II+II", restarts=1) for case in cases])
        if all(_roth_holds(bench, case) for case in cases)
        else float("nan"),
        relation=">",
        bound=VISIBLE,
    )
    rng = bench.rng("III twice")
    cases = [Case(graph, with_zeros(rng, graph.num_nodes, 3), normal(rng, graph.num_nodes, 3)) for graph in bench.graphs]
    pairs = [(case.construct("III+III"), case.construct("III")) for case in cases]
    yield _claim(
        key="corollary-III+III",
        claim="III+III is III: the filters add up",
        paper="Corollary 1, case 2: so it says",
        verdict="holds",
        quantity="largest difference of the best errors",
        measured=max(abs(double.error - single.error) for double, single in pairs),
        relation="<",
        bound=1e-12,
    )


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
    yield _claim(
        key="corollary-lemma",
        claim="two hyperplanes never fill space: u = (1,0,0) is orthogonal to neither (1,2,0) nor (1,3,0)",
        paper="Lemma 1: the union of the null spaces of x and y is R^C (it is their sum that is)",
        verdict="fails",
        quantity="smaller of |<x,u>| and |<y,u>|",
        measured=float(min(abs(x @ u), abs(y @ u))),
        relation=">",
        bound=0.5,
    )
    yield _claim(
        key="corollary-printed",
        claim="I+II+III reaches targets under the printed conditions: for rows (1,2,0) and (1,3,0) with 5 and 7 in column 3, "
        "W_:3 = (1,0,0) and q = (5,7) do it",
        paper="Corollary 1, case 3: under these conditions I+II+III fails",
        verdict="fails",
        quantity=f"largest error {_WHERE}",
        measured=worst_error([case.construct("I+II+III") for case in printed_conditions(bench)]),
        relation="<",
        bound=1e-10,
    )
    results = [case.construct("I+II+III") for channels in (3, 4, 5) for case in corrected(bench, channels)]
    yield _claim(
        key="corollary-corrected",
        claim="for C >= 3 I+II+III misses targets: two equal rows of F^, 0 in two columns, and a 2 x 2 block of rank 2 in Z^",
        paper="Corollary 1: failure cases of I+II+III exist",
        verdict="corrected",
        quantity=f"smallest second singular value of the block / ||Z|| {_WHERE}, C = 3, 4, 5",
        measured=relative_bound(results),
        relation=">",
        bound=VISIBLE,
    )
    yield _added(
        key="corollary-corrected-optimal",
        claim="there the best error is the second singular value",
        quantity="largest (error - lower bound) / ||Z||",
        measured=max((result.error - result.lower_bound) / result.scale for result in results),
        relation="<",
        bound=1e-8,
    )
    sums = ["+".join(pair) for pair in itertools.combinations_with_replacement(("I", "II", "III"), 2)]
    cases = corrected(bench, 3)
    rng = bench.rng("pairs")
    flat = [
        Case(graph, normal(rng, graph.num_nodes, 1) @ normal(rng, 1, 3), normal(rng, graph.num_nodes, 3))
        for graph in bench.graphs
    ]
    results = [case.construct(s, restarts=1) for s in sums for case in (flat if s in ("I+II", "II+II") else cases)]
    yield _claim(
        key="corollary-pairs",
        claim="for C = 3 each of the six sums of two paradigms misses a target",
        paper="Corollary 1: so it says, for every C",
        verdict="holds",
        quantity=f"smallest certified error / ||Z||, six sums {_WHERE}",
        measured=relative_bound(results),
        relation=">",
        bound=VISIBLE,
    )


def two_channel_cases(bench: Bench, count: int = 10) -> list[Case]:
    rng = bench.rng("two channels")
    return [
        Case(graph, with_zeros(rng, graph.num_nodes, 2), normal(rng, graph.num_nodes, 2))
        for graph in bench.graphs
        for _ in range(count)
    ]


def _two_channels(bench: Bench) -> Iterator[Claim]:
    cases = two_channel_cases(bench)
    for paradigm in ("I+II+III", "I+II", "II+III", "II+II"):
        yield _claim(
            key=f"corollary-C2-{paradigm}",
            claim=f"for C = 2 {paradigm} reaches every target if no row of F^ is zero",
            paper="Corollary 1: it fails on some, for every C",
            verdict="fails",
            quantity=f"largest error on {len(cases)} random targets, F^ with zero entries",
            measured=worst_error([case.construct(paradigm) for case in cases]),
            relation="<",
            bound=1e-8,
        )
    errors = []
    for case in cases:
        squares = (case.f * case.f).sum(axis=1, keepdims=True)
        turned = case.f @ QUARTER_TURN
        along = (case.z * case.f).sum(axis=1, keepdims=True) / squares
        across = (case.z * turned).sum(axis=1, keepdims=True) / squares
        errors.append(float(np.linalg.norm(along * case.f + across * turned - case.z)))
    yield _added(
        key="corollary-C2-quarter-turn",
        claim="why: with R = a quarter turn, f R is orthogonal to f, so I+II has two orthogonal directions in every row",
        quantity=f"largest error of I+II with that R on the same {len(cases)} targets",
        measured=max(errors),
        relation="<",
        bound=1e-10,
    )
    results = [case.construct(paradigm) for paradigm in ("I+I", "I+III", "III+III") for case in cases]
    yield _claim(
        key="corollary-C2-diagonal",
        claim="for C = 2 the sums without II still miss targets",
        paper="Corollary 1: so it says",
        verdict="holds",
        quantity="smallest certified error / ||Z|| of I+I, I+III, III+III",
        measured=relative_bound(results),
        relation=">",
        bound=VISIBLE,
    )
