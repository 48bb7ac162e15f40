"""``construct``: the parameters of a paradigm, or of a sum of paradigms, that come closest to a target, with a certificate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, real
from chebnet2d.conv import ExactConv
from chebnet2d.graph import Graph, Spectrum
from chebnet2d.theory import attainment, bilinear, bounds
from chebnet2d.theory.reduction import Array, Reduced
from chebnet2d.theory.signals import Signals
from chebnet2d.theory.terms import Terms

_SMALL, _TRADED = 1e-4, 1e-3
"""Relative to ||Z||: errors on the way to 0, and what error times amplification is at least where one is traded for the other."""

Parameters = dict[str, Tensor]
"""Of one term, with the names and shapes of the ``Paradigm`` it belongs to."""


@dataclass(frozen=True)
class Construction:
    """The best parameters found for ||T(F) - Z||_F, and what is proved about them.

    Attributes:
        paradigm: the sum that was asked for, such as "I+II+III".
        parameters: one dictionary per term.
        error: ||T(F) - Z||_F, measured with ``ExactConv`` layers that hold these parameters.
        scale: ||Z||_F.
        lower_bound: no parameter values give a smaller error (proved, up to rounding).
        reason: what the lower bound rests on.
        tolerance: relative to ``scale``.
        reached: the error is 0 up to the tolerance; the parameters are the proof.
        approached: the error is small, but falls only as the filters grow (with Paradigm II): the infimum may be 0, and is not
            attained.
        optimal: the error is the lower bound up to the tolerance.
        fails: the lower bound is above the tolerance: the target is out of reach, whatever the parameters.
        amplification: how much larger the terms of Paradigm II are than what they add up to; 0 for a closed form.
        blocked: a row of Z^ that no exact solution can have, so that the target is not reached; found for one term of Paradigm
            II.
        starts: how many starts the search took; 0 for a closed form.
        layers: one ``ExactConv`` per term, with these parameters.
        num_parameters: free numbers of the paradigm.
    """

    paradigm: str
    error: float
    scale: float
    lower_bound: float
    reason: str
    tolerance: float
    starts: int
    layers: tuple[ExactConv, ...]
    num_parameters: int
    amplification: float = 0.0
    blocked: int | None = None

    @classmethod
    def of(
        cls, signals: Signals, names: Sequence[str], parameters: Sequence[Parameters], rank: int | None = None, **facts: Any
    ) -> "Construction":
        """With a layer per term that holds its parameters, and the error measured with these layers."""
        layers = []
        for name, values in zip(names, parameters, strict=True):
            sizes = signals.f.shape[1], signals.z.shape[1]
            layer = ExactConv(*sizes, signals.spectrum, paradigm=name, rank=rank if name == "rank" else None)
            layer.paradigm.load_state_dict(values)
            layers.append(layer)
        with torch.no_grad():
            output = torch.stack([layer(signals.signal) for layer in layers]).sum(dim=0)
        error = float((output - signals.target).norm())
        return cls(error=error, scale=float(np.linalg.norm(signals.z)), layers=tuple(layers), **facts)

    @property
    def parameters(self) -> tuple[Parameters, ...]:
        """The tensors of each layer by name, of the shapes that its paradigm has."""
        return tuple(dict(layer.paradigm.state_dict()) for layer in self.layers)

    @property
    def reached(self) -> bool:
        return self.error <= self.tolerance * self.scale and not self.approached

    @property
    def approached(self) -> bool:
        """Error times amplification is rounding where a target is reached, and of the order of ||Z|| on the way to a limit."""
        small = self.error <= max(_SMALL, self.tolerance) * self.scale and not self.fails
        return small and (self.blocked is not None or self.error * self.amplification > _TRADED * self.scale)

    @property
    def optimal(self) -> bool:
        return self.error - self.lower_bound <= self.tolerance * self.scale and not self.approached

    @property
    def fails(self) -> bool:
        return self.lower_bound > self.tolerance * self.scale

    @property
    def certified(self) -> bool:
        """Whether the error is proved to be the smallest possible one, or the target to be out of reach."""
        return self.optimal or self.fails

    @property
    def how(self) -> str:
        """The certificate in words."""
        if self.reached:
            return "reached: the parameters are the proof"
        if self.approached:
            why = (
                ""
                if self.blocked is None
                else f"; not attained: row {self.blocked} of Z^ is out of reach of every exact solution"
            )
            return f"approached: the error falls as filters grow, {self.amplification:.0e} times here{why}"
        if self.fails:
            return f"{'optimal' if self.optimal else 'out of reach'}: {self.reason}"
        return "not certified"

    def __call__(self, x: Tensor) -> Tensor:
        """T(x) with these parameters."""
        with torch.no_grad():
            return torch.stack([layer(x) for layer in self.layers]).sum(dim=0)


def construct(
    graph: Graph | Spectrum,
    F: Any,
    Z: Any,
    paradigm: str | Sequence[str] = "2d",
    *,
    rank: int | None = None,
    restarts: int = 64,
    seed: int = 0,
    tolerance: float = 1e-9,
    zero: float = 1e-12,
) -> Construction:
    """Minimise ||T(F) - Z||_F over the parameters of T, where the filters are free at every eigenvalue of the graph.

    I, III and 2-D are linear: closed form, and the error is its own lower bound. A sum with Paradigm II is bilinear: searched
    from ``restarts`` starts, with a lower bound from ``chebnet2d.theory.bounds``.

    Args:
        graph: ``edge_index``, sparse adjacency matrix, operator or ``Spectrum``.
        F: N x C.
        Z: N x C' (C' = C with I or III).
        paradigm: "I", "II", "III", "2d", "rank", a sum such as "I+II+III", or a list; terms may repeat.
        rank: r for a term "rank".
        tolerance: relative to ||Z||_F, for "reached", "optimal" and "fails".
        zero: entries of U^T F below ``zero`` times the largest one are 0, and rows at a smaller angle are parallel. A filter
            larger than about 1 / ``zero`` is thereby ruled out.

    >>> import torch
    >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    >>> x, z = torch.randn(4, 2), torch.randn(4, 2)
    >>> construct(path, x, z, "2d").reached
    True
    """
    terms = Terms.parse(paradigm, rank)
    integer("construct", "restarts", restarts, 1)
    integer("construct", "seed", seed, 0)
    tolerance = real("construct", "tolerance", tolerance, 0.0)
    zero = real("construct", "zero", zero, 0.0, 1e-3)
    signals = Signals.of("construct", graph, F, Z, zero)
    f, z = signals.f, signals.z
    if terms.square and z.shape[1] != f.shape[1]:
        hint = "Paradigms I and III have no map between channels."
        raise InputError("construct", "Z", f"as many columns as F, {f.shape[1]}", got=str(z.shape[1]), hint=hint, verb="have")

    problem = Reduced.of(f, z, terms.base, terms.total_rank)
    if terms.total_rank == 0 or terms.base == "2d":
        reason = f"{int(problem.empty.sum())} zero rows of F^" if terms.base == "2d" else "closed form of a linear problem"
        bound = bounds.Bound(float(np.linalg.norm(problem.projected)), reason)
        found = bilinear.Found.nothing(problem)
        blocked = None
    else:
        bound = max(bounds.lower_bounds(problem, zero), key=lambda candidate: candidate.value)
        lost = float(np.linalg.norm(z[problem.empty]))
        found = bilinear.solve(
            problem,
            restarts=restarts,
            seed=seed,
            accuracy=max(1e-13, 0.01 * tolerance) * float(np.linalg.norm(z)),
            floor=max(0.0, bound.value**2 - lost**2) ** 0.5,
            guesses=bounds.first_guess(problem, zero, seed, count=4),
        )
        blocked = attainment.blocked_row(problem, zero) if terms.total_rank == 1 else None
    parameters = _share_out(terms, problem, found)
    return Construction.of(
        signals,
        terms.names,
        parameters,
        rank,
        paradigm=str(terms),
        lower_bound=bound.value,
        reason=bound.reason,
        tolerance=tolerance,
        starts=found.starts,
        num_parameters=sum(value.numel() for term in parameters for value in term.values()),
        amplification=attainment.amplification(problem, found),
        blocked=blocked,
    )


def _share_out(terms: Terms, problem: Reduced, found: bilinear.Found) -> list[Parameters]:
    """What was solved for the merged sum, as parameters of the terms that were asked for. A term that is not needed is 0."""
    (nodes, inputs), outputs = problem.f.shape, problem.z.shape[1]
    linear = {"I": (nodes,), "III": (nodes, inputs), "2d": (nodes, inputs, outputs)}
    rest = problem.z - np.einsum("ni,na,iab->nb", found.filters, problem.f, found.maps)
    parameters: list[dict[str, Array]] = []
    taken = 0
    for i, name in enumerate(terms.names):
        if name in linear:
            first = name == terms.base and name not in terms.names[:i]
            parameters.append({"theta": problem.base_filter(rest) if first else np.zeros(linear[name])})
        elif name == "II":
            parameters.append({"theta": found.filters[:, taken], "weight": found.maps[taken]})
            taken += 1
        else:
            part = slice(taken, taken + (terms.rank or 0))
            parameters.append({"filters": found.filters[:, part], "weight": found.maps[part]})
            taken = part.stop
    return [{key: torch.from_numpy(value) for key, value in term.items()} for term in parameters]
