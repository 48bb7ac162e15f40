"""The basis that is orthonormal for a given signal (the optimal basis of OptBasis)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from chebnet2d.polynomials.basis import Apply, register_basis


@register_basis
@dataclass(frozen=True)
class SignalOrthonormal:
    """Per column x of the signal: h_0 = x / |x|, and h_k is the part of M h_{k-1} orthogonal to all earlier terms, normalised.

    For a symmetric M only two projections are not zero (Lanczos), so this is a three-term recurrence whose coefficients depend on
    the signal; gradients flow through them. Once the Krylov space of a column is exhausted, its further terms are 0: what is then
    left of M h_{k-1} is rounding error (shorter than ``tolerance``), which must not be normalised.
    """

    name: ClassVar[str] = "orthonormal"
    fixed: ClassVar[bool] = False
    tolerance: float = 1e-8

    def terms(self, apply: Apply, start: Tensor, degree: int) -> Iterator[Tensor]:
        """As ``Basis.terms``: each of the shape of ``start``."""
        before = torch.zeros_like(start)
        current = self._unit(start)
        yield current
        for _ in range(degree):
            following = apply(current)
            for known in (current, before):
                following = following - (following * known).sum(0, keepdim=True) * known
            before, current = current, self._unit(following)
            yield current

    def values_for(self, apply: Apply, start: Tensor, degree: int, x: Tensor) -> Tensor:
        """p_k(x) of the polynomials with h_k = p_k(M) start, which each column has for its own: (degree + 1) x len(x) x C."""
        terms = list(self.terms(apply, start, degree))
        found = [(terms[0] * start).sum(0) * _inverse((start * start).sum(0)) * torch.ones_like(x).unsqueeze(1)]
        for k in range(1, degree + 1):
            moved = apply(terms[k - 1])
            following = (x.unsqueeze(1) - (moved * terms[k - 1]).sum(0)) * found[k - 1]
            if k > 1:
                following = following - (moved * terms[k - 2]).sum(0) * found[k - 2]
            found.append(following * _inverse((moved * terms[k]).sum(0)))
        return torch.stack(found)

    def _unit(self, v: Tensor) -> Tensor:
        # Never the root of 0: its gradient is infinite.
        square = (v * v).sum(0, keepdim=True)
        alive = square > self.tolerance**2
        length = torch.where(alive, square, torch.ones_like(square)).sqrt()
        return torch.where(alive, v / length, torch.zeros_like(v))


def _inverse(length: Tensor) -> Tensor:
    """1 / length; 0 for the length 0 of a term that is none."""
    return torch.where(length != 0, 1 / torch.where(length != 0, length, torch.ones_like(length)), torch.zeros_like(length))
