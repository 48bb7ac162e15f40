"""Theorem 3.6: can the N C^2 numbers of the 2-D convolution be fewer?

Indices as in the paper's proof: g_n^(c,j) is the filter from input channel j to output channel c, at frequency n; in our arrays
that is theta[n, j, c].
"""

import itertools
from collections.abc import Iterator

import numpy as np

from chebnet2d.graph import Spectrum
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, Case, normal, relative_bound, with_zeros, worst_error
from chebnet2d.theory.claims.sums import parallel
from chebnet2d.theory.example_graphs import path, spectrum_of_edges
from chebnet2d.theory.reduction import Array
from chebnet2d.theory.sharing import CONSTANT, Labels, separate, toeplitz

CHANNELS = 3
Place = tuple[int, int, int]
Sharing = tuple[bool, bool, bool]
"""(n = n', c = c', j = j') for two different numbers."""

SHARING_CASES = tuple((n, c, j) for n, c, j in itertools.product((False, True), repeat=3) if not (n and c and j))
POSSIBLE = (True, False, False)
"""The case in which every target is still reached with sharing."""
CANCELLING = (True, True, False)
"""The case in which one row cannot be zero outside j and outside j'. But where F^_nj + F^_nj' = 0 the shared number cancels."""


def name_of(case: Sharing) -> str:
    return ", ".join(f"{letter}{'=' if same else '!='}{letter}'" for letter, same in zip("ncj", case, strict=True))


def two_places(case: Sharing) -> tuple[Place, Place]:
    """(n, c, j) and (n', c', j')."""
    same_n, same_c, same_j = case
    return (0, 0, 0), (int(not same_n), int(not same_c), int(not same_j))


def shared_labels(nodes: int, channels: int, case: Sharing) -> Labels:
    labels = separate(nodes, channels, channels)
    (n, c, j), (other_n, other_c, other_j) = two_places(case)
    labels[other_n, other_j, other_c] = labels[n, j, c]
    return labels


def failing_example(graph: Spectrum, case: Sharing, rng: np.random.Generator) -> Case:
    """A target that cannot be reached with sharing. There is none for ``POSSIBLE``."""
    example = Case.drawn(graph, rng, CHANNELS)
    f, z = example.f, example.z
    (n, c, j), (other_n, other_c, other_j) = two_places(case)
    f[n], f[other_n] = 0.0, 0.0
    if case == CANCELLING:
        f[n, j], f[n, other_j] = 1.0, -1.0
        z[n, c] = 1.0
    else:
        f[n, j] = f[other_n, other_j] = 1.0
        z[n, c], z[other_n, other_c] = 1.0, -1.0
    return example


def sign_patterns(channels: int) -> Array:
    """Every row of -1, 0 and 1 except 0: all zero patterns, and all cancellations of two or more entries."""
    return np.array([row for row in itertools.product((-1.0, 0.0, 1.0), repeat=channels) if any(row)])


def claims(bench: Bench) -> Iterator[Claim]:
    yield _constant(bench)
    for case in SHARING_CASES:
        yield _sharing(bench, case) if case != POSSIBLE else _harmless(bench)
    yield from _toeplitz(bench)
    yield from _terms(bench)


def _constant(bench: Bench) -> Claim:
    results = []
    for case in bench.cases(bench.rng("constant"), CHANNELS):
        labels = separate(case.spectrum.num_nodes, CHANNELS, CHANNELS)
        labels[0, 1, 2] = CONSTANT
        case.f[0] = (0, 1, 0)
        case.z[0, 2] = 2.0
        results.append(case.construct_shared(labels, constants=np.full(labels.shape, 0.7)))
    return line("theorem3.6-constant", min(result.lower_bound for result in results))


def _sharing(bench: Bench, case: Sharing) -> Claim:
    rng = bench.rng(f"sharing {case}")
    results = []
    for graph in bench.graphs:
        labels = shared_labels(graph.num_nodes, CHANNELS, case)
        results.append(failing_example(graph, case, rng).construct_shared(labels))
    key = "theorem3.6-n=n',c=c',j!=j'" if case == CANCELLING else "theorem3.6-{short}"
    bound = min(result.lower_bound for result in results)
    return line(key, bound, case=name_of(case), short=name_of(case).replace(", ", ","))


def _harmless(bench: Bench) -> Claim:
    rng = bench.rng("harmless")
    results = []
    for channels in (2, 3):
        f = sign_patterns(channels)
        for scale in (np.ones(f.shape), normal(rng, *f.shape)):
            labels = separate(len(f), channels, channels)
            labels[:, 1, 1] = labels[:, 0, 0]  # in every row at once
            results.append(on_path(f * scale, rng).construct_shared(labels))
    return line("theorem3.6-n=n',c!=c',j!=j'", worst_error(results))


def on_path(f: Array, rng: np.random.Generator) -> Case:
    """F^ = f on a path of as many nodes."""
    return Case(spectrum_of_edges(path(len(f)), len(f)), f, normal(rng, *f.shape))


def _toeplitz(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("toeplitz")
    cases = [on_path(sign_patterns(channels), rng) for channels in (2, 3, 4)]
    cases += [Case.drawn(bench.real, rng, channels, with_zeros) for channels in (2, 5, 7)]
    results, differences = [], []
    for case in cases:
        nodes, channels = case.f.shape
        results.append(case.construct_shared(toeplitz(nodes, channels, channels)))
        differences.append(abs(results[-1].num_parameters - nodes * (2 * channels - 1)))
    yield line("theorem3.6-toeplitz", worst_error(results))
    yield line("theorem3.6-toeplitz-numbers", max(differences))


def _terms(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("terms")
    reached, differences = [], []
    for graph, channels in itertools.product(bench.graphs, (2, 3, 4)):
        reached.append(Case.drawn(graph, rng, channels, with_zeros).construct(["II"] * channels))
        differences.append(abs(reached[-1].num_parameters - graph.num_nodes * channels - channels**3))
    yield line("theorem3.6-C-terms", worst_error(reached))
    yield line("theorem3.6-C-terms-numbers", max(differences))
    errors = []
    for graph, channels in itertools.product(bench.graphs, (2, 3, 4, 7)):
        case = Case.drawn(graph, rng, channels, with_zeros)
        errors.append(_powers_error(case, np.linalg.qr(rng.standard_normal((channels, channels)))[0]))
    yield line("theorem3.6-powers", max(errors))
    missed = []
    for channels in (3, 4):
        missed += [case.construct(["II"] * (channels - 1), restarts=1) for case in parallel(bench, channels, channels)]
    yield line("theorem3.6-fewer-terms", relative_bound(missed))


def _powers_error(case: Case, generator: Array) -> float:
    """z_m = sum_i q[m, i] f_m A^i, solved row by row."""
    vectors = [case.f]
    for _ in range(case.f.shape[1] - 1):
        vectors.append(vectors[-1] @ generator)
    stacked = np.stack(vectors, axis=1)  # N x C x C: row i of [m] is f_m A^i
    filters = np.linalg.solve(stacked.transpose(0, 2, 1), case.z[:, :, None])[:, :, 0]
    return float(np.linalg.norm(np.einsum("ni,nic->nc", filters, stacked) - case.z))
