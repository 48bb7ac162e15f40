"""Theorem 1 (I, II and III miss some targets) and Theorem 3 (the 2-D convolution does not)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from chebnet2d.theory.claim import Claim
from chebnet2d.theory.claims.bench import Bench, Case, normal, relative_bound, with_zeros, worst_error

ONE, FULL = "one paradigm", "2-D convolution"
CHANNELS = 3
VISIBLE = 1e-3  # of ||Z||: far above any rounding error
_WHERE = "on the karate club and 4 random graphs"


def low_rank(bench: Bench) -> list[Case]:
    """rank(Z) > rank(F): F^ has rank 1 and no zero entry."""
    rng = bench.rng("low rank")
    return [
        Case(graph, normal(rng, graph.num_nodes, 1) @ normal(rng, 1, CHANNELS), normal(rng, graph.num_nodes, CHANNELS))
        for graph in bench.graphs
    ]


def zero_pattern(bench: Bench) -> list[Case]:
    """Pr(Z^ != 0 | F^ = 0) > 0: F^ has zero entries, but no zero row; Z^ has none."""
    rng = bench.rng("zero pattern")
    return [
        Case(graph, with_zeros(rng, graph.num_nodes, CHANNELS), normal(rng, graph.num_nodes, CHANNELS)) for graph in bench.graphs
    ]


def generic(bench: Bench) -> list[Case]:
    rng = bench.rng("generic")
    return [Case(graph, normal(rng, graph.num_nodes, CHANNELS), normal(rng, graph.num_nodes, CHANNELS)) for graph in bench.graphs]


def claims(bench: Bench) -> Iterator[Claim]:
    yield from _failures(bench)
    yield from _full(bench)


def _failures(bench: Bench) -> Iterator[Claim]:
    ranks, zeros = low_rank(bench), zero_pattern(bench)
    for paradigm, cases, condition in (
        ("I", ranks, "rank(Z) > rank(F)"),
        ("I", zeros, "F^ = 0 where Z^ != 0"),
        ("II", ranks, "rank(Z) > rank(F)"),
        ("III", zeros, "F^ = 0 where Z^ != 0"),
    ):
        results = [case.construct(paradigm) for case in cases]
        yield Claim(
            key=f"theorem1-{paradigm}-{'rank' if cases is ranks else 'zeros'}",
            section=ONE,
            claim=f"Paradigm {paradigm} misses every target with {condition}",
            paper=f"Theorem 1: {paradigm} fails when {condition}",
            verdict="holds",
            quantity=f"smallest certified error / ||Z|| {_WHERE}",
            measured=relative_bound(results),
            relation=">",
            bound=VISIBLE,
        )
    yield Claim(
        key="theorem1-2d",
        section=ONE,
        claim="the 2-D convolution reaches the targets of these four lines",
        paper="Theorem 3",
        verdict="holds",
        quantity=f"largest error {_WHERE}",
        measured=worst_error([case.construct("2d") for case in ranks + zeros]),
        relation="<",
        bound=1e-10,
    )
    cases = generic(bench)
    for paradigm in ("I", "II"):
        yield Claim(
            key=f"theorem1-{paradigm}-generic",
            section=ONE,
            claim=f"Paradigm {paradigm} misses random targets that meet neither condition: they are sufficient, not necessary",
            paper="gives the conditions only as examples",
            verdict="added",
            quantity=f"smallest certified error / ||Z|| {_WHERE}",
            measured=relative_bound([case.construct(paradigm, restarts=1) for case in cases]),
            relation=">",
            bound=VISIBLE,
        )
    yield Claim(
        key="theorem1-III-generic",
        section=ONE,
        claim="Paradigm III reaches every target, with N C numbers, when F^ has no zero entry",
        paper="silent: its failure needs an exact zero in F^",
        verdict="added",
        quantity=f"largest error {_WHERE}",
        measured=worst_error([case.construct("III") for case in cases]),
        relation="<",
        bound=1e-10,
    )


def _full(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("full")
    results = []
    for graph in bench.graphs:
        for channels in (1, 2, 5):
            f = with_zeros(rng, graph.num_nodes, channels) if channels > 1 else normal(rng, graph.num_nodes, 1)
            results.append(Case(graph, f, normal(rng, graph.num_nodes, channels)).construct("2d"))
    yield Claim(
        key="theorem3-reaches",
        section=FULL,
        claim="the 2-D convolution reaches every target if no row of F^ is zero",
        paper="Theorem 3: so it says",
        verdict="holds",
        quantity="largest error on 15 random targets, C = 1, 2, 5",
        measured=worst_error(results),
        relation="<",
        bound=1e-10,
    )
    cases = generic(bench)
    for case in cases:
        case.f[0] = 0.0
    results = [case.construct("2d") for case in cases]
    yield Claim(
        key="theorem3-zero-row",
        section=FULL,
        claim="without that assumption it fails: a frequency that F does not have cannot be made",
        paper="Theorem 3 assumes it",
        verdict="holds",
        quantity="smallest certified error / ||Z|| with one zero row",
        measured=relative_bound(results),
        relation=">",
        bound=VISIBLE,
    )
    yield _basis_dependence(bench)


def _basis_dependence(bench: Bench) -> Claim:
    """Turn the basis inside an eigenspace of dimension > 1: the same filter values are then another convolution."""
    rng = bench.rng("basis")
    spectrum = bench.real
    case = Case(spectrum, normal(rng, 34, CHANNELS), normal(rng, 34, CHANNELS))
    values = case.construct("2d").parameters[0]["theta"]
    same = torch.isclose(spectrum.eigenvalues, spectrum.eigenvalues.median(), atol=1e-9)
    turn, _ = np.linalg.qr(rng.standard_normal((int(same.sum()), int(same.sum()))))
    vectors = spectrum.eigenvectors.clone()
    vectors[:, same] = vectors[:, same] @ torch.from_numpy(turn)
    other = replace(spectrum, eigenvectors=vectors).filter(case.F, values)
    return Claim(
        key="theorem3-basis",
        section=FULL,
        claim=f"with a repeated eigenvalue (here {int(same.sum())} times) free filter values depend on the eigenbasis that is "
        "picked: they are not functions of the graph, and no polynomial has them",
        paper="silent: takes U as given",
        verdict="added",
        quantity="change of the output, relative, under another eigenbasis of the same graph",
        measured=float((other - case.Z).norm() / case.Z.norm()),
        relation=">",
        bound=1e-2,
    )
