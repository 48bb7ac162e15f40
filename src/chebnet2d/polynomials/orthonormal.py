"""The basis that is orthonormal for the signal at hand (the optimal basis of OptBasis)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from chebnet2d.polynomials.basis import Apply


@dataclass(frozen=True)
class SignalOrthonormal:
    """h_0 = x / |x| and h_k = the part of M h_{k-1} that is orthogonal to all before, of length 1: for each column.

    For a symmetric M only two projections are not zero (Lanczos), so it is a three-term recurrence whose coefficients come
    from the signal; gradients flow through them. Once the Krylov space of a column is exhausted, its further terms are 0:
    what is left of the vector by then is rounding, and normalising it would make noise look like signal.
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
        # The root is taken of a number that is never 0: its gradient would be infinite there.
        square = (v * v).sum(0, keepdim=True)
        alive = square > self.tolerance**2
        length = torch.where(alive, square, torch.ones_like(square)).sqrt()
        return torch.where(alive, v / length, torch.zeros_like(v))
