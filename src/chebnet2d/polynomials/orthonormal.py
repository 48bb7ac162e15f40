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
        before = torch.zeros_like(start)
        current = self._unit(start)
        yield current
        for _ in range(degree):
            following = apply(current)
            for known in (current, before):
                following = following - (following * known).sum(0, keepdim=True) * known
            before, current = current, self._unit(following)
            yield current

    def _unit(self, v: Tensor) -> Tensor:
        # Never the root of 0: its gradient is infinite.
        square = (v * v).sum(0, keepdim=True)
        alive = square > self.tolerance**2
        length = torch.where(alive, square, torch.ones_like(square)).sqrt()
        return torch.where(alive, v / length, torch.zeros_like(v))
