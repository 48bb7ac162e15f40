"""Theorem 3.1 (I, II and III miss some targets) and Theorem 3.5 (the 2-D convolution does not)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, Case, normal, rank_one, relative_bound, with_zeros, worst_error
from chebnet2d.theory.example_graphs import path, spectrum_of_edges

CHANNELS = 3


def low_rank(bench: Bench) -> list[Case]:
    """rank(Z) > rank(F): F^ has rank 1 and no zero entry."""
    return list(bench.cases(bench.rng("low rank"), CHANNELS, rank_one))


def zero_pattern(bench: Bench) -> list[Case]:
    """Pr(Z^ != 0 | F^ = 0) > 0: F^ has zero entries, but no zero row; Z^ has none."""
    return list(bench.cases(bench.rng("zero pattern"), CHANNELS, with_zeros))


def claims(bench: Bench) -> Iterator[Claim]:
    yield from _failures(bench)
    yield from _full(bench)


def _failures(bench: Bench) -> Iterator[Claim]:
    cases = {"rank": low_rank(bench), "zeros": zero_pattern(bench)}
    for paradigm, condition in (("I", "rank"), ("I", "zeros"), ("II", "rank"), ("III", "zeros")):
        results = [case.construct(paradigm) for case in cases[condition]]
        yield line(f"theorem3.1-{{paradigm}}-{condition}", relative_bound(results), paradigm=paradigm)
    yield line("theorem3.1-2d", worst_error([case.construct("2d") for case in cases["rank"] + cases["zeros"]]))
    generic = list(bench.cases(bench.rng("generic"), CHANNELS))
    for paradigm in ("I", "II"):
        results = [case.construct(paradigm, restarts=1) for case in generic]
        yield line("theorem3.1-{paradigm}-generic", relative_bound(results), paradigm=paradigm)
    yield line("theorem3.1-III-generic", worst_error([case.construct("III") for case in generic]))
    yield _approached()


def limit_case() -> Case:
    """A target that Paradigm II approaches and does not reach, see ``attainment``."""
    return Case(spectrum_of_edges(path(3), 3), np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([[1.0, 0], [0, 1], [1, 0]]))


def _approached() -> Claim:
    case, t = limit_case(), 1e-6
    output = np.array([[1.0], [1 / t], [1]]) * (case.f @ np.diag([1, t]))
    error = float(np.linalg.norm(output - case.z) / np.linalg.norm(case.z))
    result = case.construct("II")
    return line("theorem3.1-II-approached", error if result.approached and result.blocked == 1 else np.nan)


def _full(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("full")
    draws = {1: normal, 2: with_zeros, 5: with_zeros}
    cases = [Case.drawn(graph, rng, channels, draw) for graph in bench.graphs for channels, draw in draws.items()]
    yield line("theorem3.5-reaches", worst_error([case.construct("2d") for case in cases]))
    results = []
    for case in bench.cases(bench.rng("generic"), CHANNELS):
        case.f[0] = 0.0
        results.append(case.construct("2d"))
    yield line("theorem3.5-zero-row", relative_bound(results))
    yield _basis_dependence(bench)


def _basis_dependence(bench: Bench) -> Claim:
    """Turn the basis inside an eigenspace of dimension > 1: the same filter values are then another convolution."""
    rng = bench.rng("basis")
    spectrum = bench.real
    case = Case.drawn(spectrum, rng, CHANNELS)
    values = case.construct("2d").parameters[0]["theta"]
    same = torch.isclose(spectrum.eigenvalues, spectrum.eigenvalues.median(), atol=1e-9)
    size = int(same.sum())
    turn, _ = np.linalg.qr(rng.standard_normal((size, size)))
    vectors = spectrum.eigenvectors.clone()
    vectors[:, same] = vectors[:, same] @ torch.from_numpy(turn)
    other = replace(spectrum, eigenvectors=vectors).filter(case.F, values)
    return line("theorem3.5-basis", float((other - case.Z).norm() / case.Z.norm()), multiplicity=size)
