"""``construct``: the parameters of a paradigm, or of a sum of paradigms, that come closest to a target, with a certificate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, real
from chebnet2d.conv import ExactConv
from chebnet2d.graph import Graph, Spectrum, operator_of
from chebnet2d.theory import bilinear, bounds
from chebnet2d.theory.reduction import Array, Reduced, clean
from chebnet2d.theory.terms import Terms


@dataclass(frozen=True)
class Construction:
    """The best parameters found for ||T(F) - Z||_F, and what is proved about them.

    Attributes:
        paradigm: the sum that was asked for, such as "I+II+III".
        parameters: one dictionary per term, with the names and shapes of the ``Paradigm`` it belongs to.
        error: ||T(F) - Z||_F, measured with ``ExactConv`` layers that hold these parameters.
        scale: ||Z||_F.
        lower_bound: no parameter values give a smaller error (proved, up to rounding).
        reason: what the lower bound rests on.
        tolerance: relative to ``scale``.
        reached: the error is 0 up to the tolerance; the parameters are the proof.
        optimal: the error is the lower bound up to the tolerance.
        fails: the lower bound is above the tolerance: the target is out of reach, whatever the parameters.
        starts: how many starts the search took; 0 for a closed form.
        layers: one ``ExactConv`` per term, with these parameters.
        num_parameters: free numbers of the paradigm.
    """

    paradigm: str
    parameters: tuple[dict[str, Tensor], ...]
    error: float
    scale: float
    lower_bound: float
    reason: str
    tolerance: float
    starts: int
    layers: tuple[ExactConv, ...]
    num_parameters: int

    @property
    def reached(self) -> bool:
        return self.error <= self.tolerance * self.scale

    @property
    def optimal(self) -> bool:
        return self.error - self.lower_bound <= self.tolerance * self.scale

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
    signal, target = matrix("F", F), matrix("Z", Z)
    spectrum = spectrum_of(graph, signal)
    if target.shape[0] != signal.shape[0]:
        raise InputError("construct", "Z", f"as many rows as F, {signal.shape[0]}", got=str(target.shape[0]), verb="have")
    if terms.square and target.shape[1] != signal.shape[1]:
        hint = "Paradigms I and III have no map between channels."
        rule = f"as many columns as F, {signal.shape[1]}"
        raise InputError("construct", "Z", rule, got=str(target.shape[1]), hint=hint, verb="have")
    f = clean(spectrum.transform(signal).numpy(), zero)
    z = spectrum.transform(target).numpy()
    scale = float(np.linalg.norm(z))

    shape = terms.shape
    if shape.full:
        values, bound = _full(f, z)
        found, base = None, values
    elif shape.rank == 0:
        problem = Reduced.of(f, z, shape)
        found, base = None, problem.base_filter(z)
        bound = bounds.Bound(float(np.linalg.norm(problem.projected)), "closed form of a linear problem")
    else:
        problem = Reduced.of(f, z, shape)
        bound = max(bounds.lower_bounds(problem, zero), key=lambda candidate: candidate.value)
        lost = float(np.linalg.norm(z[problem.empty]))
        found = bilinear.solve(
            problem,
            restarts=restarts,
            seed=seed,
            accuracy=max(1e-13, 0.01 * tolerance) * scale,
            floor=max(0.0, bound.value**2 - lost**2) ** 0.5,
            guesses=bounds.first_guess(problem, zero, seed, count=4),
        )
        rest = z - np.einsum("ni,na,iab->nb", found.filters, f, found.maps)
        base = problem.base_filter(rest) if shape.base else np.zeros(0)

    parameters = _share_out(terms, base, found, f.shape[1], z.shape[1])
    layers = tuple(
        _layer(spectrum, name, values, f.shape[1], z.shape[1], terms.rank)
        for name, values in zip(terms.names, parameters, strict=True)
    )
    with torch.no_grad():
        output = torch.stack([layer(signal) for layer in layers]).sum(dim=0)
    return Construction(
        paradigm=str(terms),
        parameters=parameters,
        error=float((output - target).norm()),
        scale=scale,
        lower_bound=bound.value,
        reason=bound.reason,
        tolerance=tolerance,
        starts=0 if found is None else found.starts,
        layers=layers,
        num_parameters=sum(value.numel() for term in parameters for value in term.values()),
    )


def _full(f: Array, z: Array) -> tuple[Array, bounds.Bound]:
    """The smallest maps with f_m W_m = z_m: one outer product per row. Only rows with f_m = 0 are lost."""
    squares = (f * f).sum(axis=1)
    scale = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
    lost = float(np.linalg.norm(z[squares == 0]))
    return np.einsum("n,na,nb->nab", scale, f, z), bounds.Bound(lost, f"{int((squares == 0).sum())} zero rows of F^")


def _share_out(
    terms: Terms, base: Array, found: bilinear.Found | None, inputs: int, outputs: int
) -> tuple[dict[str, Tensor], ...]:
    """What was solved for the merged sum, as parameters of the terms that were asked for. A term that is not needed is 0."""
    shape = terms.shape
    owner = "2d" if shape.full else shape.base
    parameters: list[dict[str, Tensor]] = []
    nodes = len(base) if found is None else len(found.filters)
    free = {"I": (nodes,), "III": (nodes, inputs), "2d": (nodes, inputs, outputs)}
    taken, given = 0, False
    for name in terms.names:
        if name in free:
            mine = name == owner and not given
            given = given or mine
            parameters.append({"theta": torch.from_numpy(base.copy() if mine else np.zeros(free[name]))})
            continue
        width = 1 if name == "II" else (terms.rank or 1)
        filters, maps = np.zeros((nodes, width)), np.zeros((width, inputs, outputs))
        if found is not None:
            filters, maps = found.filters[:, taken : taken + width].copy(), found.maps[taken : taken + width].copy()
        taken += width
        if name == "II":
            parameters.append({"theta": torch.from_numpy(filters[:, 0].copy()), "weight": torch.from_numpy(maps[0].copy())})
        else:
            parameters.append({"filters": torch.from_numpy(filters), "weight": torch.from_numpy(maps)})
    return tuple(parameters)


def _layer(spectrum: Spectrum, name: str, values: dict[str, Tensor], inputs: int, outputs: int, rank: int | None) -> ExactConv:
    layer = ExactConv(inputs, outputs, spectrum, paradigm=name, rank=rank if name == "rank" else None)
    layer.paradigm.load_state_dict(values)
    return layer


def spectrum_of(graph: Graph | Spectrum, x: Tensor) -> Spectrum:
    """The spectrum of L_hat, in the number of nodes of x."""
    if isinstance(graph, Spectrum):
        if graph.num_nodes != x.shape[0]:
            raise InputError("construct", "F", f"{graph.num_nodes} rows, as the spectrum", got=str(x.shape[0]), verb="have")
        return graph
    return Spectrum.of(operator_of(graph, None, x, owner="construct"))


def matrix(name: str, value: Any) -> Tensor:
    """N x C finite numbers as float64."""
    rule = "N x C finite numbers"
    try:
        tensor = torch.as_tensor(value).detach().cpu().to(torch.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InputError("construct", name, rule, value) from None
    if tensor.dim() != 2 or tensor.numel() == 0 or not bool(torch.isfinite(tensor).all()):
        raise InputError("construct", name, rule, value)
    return tensor
