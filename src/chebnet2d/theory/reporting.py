"""All claims in one run."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn
from torch import Tensor

from chebnet2d._checks import integer
from chebnet2d.theory.claim import Claim
from chebnet2d.theory.claims import (
    approximation,
    costs,
    decoupled,
    definitions,
    degree_limit,
    fewest,
    frequencies,
    generalisation,
    irreducible,
    one_paradigm,
    parametrisation,
    random_search,
    special_cases,
    stability,
    sums,
)
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.degree import DegreeCurve

SECTIONS = (
    "Theorem 3.1: one paradigm",
    "Corollary 3.2: sums",
    "Theorem A.1 and Lemma A.2: the proof of Corollary 3.2",
    "Definition 3.3 and Appendix A.3: the 2-D convolution",
    "Proposition 3.4: special cases",
    "Theorem 3.5: the 2-D convolution",
    "Theorem 3.6: irreducibility",
    "Definition 4.1 and Section 4.1: interpolation",
    "Section 4.2: complexity",
    "the degree limit",
    "frequencies",
    "the fewest shared numbers",
    "the decoupled architecture",
    "the parametrisation",
    "approximation",
    "stability",
    "generalisation",
    "the search",
)
"""In the order of the paper, then what it leaves out."""

PARTS = (one_paradigm, sums, definitions, special_cases, irreducible, costs)
BEYOND = (frequencies, fewest, decoupled, parametrisation, approximation, stability, generalisation, random_search)


@dataclass(frozen=True)
class TheoryReport:
    """The claims, the curves behind the plot, and what was left out and why. Iterates over the claims."""

    claims: tuple[Claim, ...]
    curves: dict[str, DegreeCurve]
    skipped: dict[str, str]
    seed: int
    seconds: float

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    @property
    def passed(self) -> bool:
        """Every line holds its bound."""
        return all(claim.passed for claim in self.claims)

    def as_dict(self) -> dict[str, Any]:
        curves = {
            name: {
                "nodes": curve.nodes,
                "channels": curve.channels,
                "distinct_eigenvalues": curve.distinct,
                "largest_multiplicity": curve.largest_multiplicity,
                "reachable_dimension": curve.reachable,
                "degree_needed": curve.degree_needed,
                "floor": curve.floor,
                "errors": curve.errors.tolist(),
            }
            for name, curve in self.curves.items()
        }
        return {
            "passed": self.passed,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "claims": [claim.as_dict() for claim in self.claims],
            "curves": curves,
            "skipped": self.skipped,
        }


@contextmanager
def _one_thread() -> Iterator[None]:
    """The claims are thousands of tiny products, for which several threads take longer than one, above all on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(threads)


def report(
    *,
    seed: int = 0,
    large: Mapping[str, Tensor] | None = None,
    skipped: Mapping[str, str] | None = None,
    done: Callable[[Claim], None] = lambda _: None,
) -> TheoryReport:
    """Try every claim.

    Args:
        seed: of the random graphs, signals and targets.
        large: name -> ``edge_index`` (2 x E) of real graphs; a sample of the largest component of each joins the degree curves.
        skipped: name -> reason, for graphs that the caller could not provide; goes into the report.
        done: called after every line, for progress.
    """
    started = time.perf_counter()
    integer("report", "seed", seed, 0)
    claims = []
    with _one_thread():
        bench = Bench(seed)
        curves = degree_limit.curves(bench, large or {})
        parts = (part.claims(bench) for part in (*PARTS, *BEYOND))
        for claim in itertools.chain(degree_limit.claims(bench, curves), *parts):
            claims.append(claim)
            done(claim)
    claims.sort(key=lambda claim: SECTIONS.index(claim.section))  # as the paper prints them; a sort keeps the order within
    return TheoryReport(tuple(claims), curves, dict(skipped or {}), seed, time.perf_counter() - started)
