"""How many numbers of a decoupled model are effective: the rank of the Jacobian of its output.

The last linear layer (H W + 1 b^T) is followed by a convolution with maps W_d. Directions in which the parameters can move
without moving the output are redundant; at a generic point there are (parameters - rank) of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from chebnet2d._checks import one_of

Maps = Callable[[dict[str, Tensor]], Tensor]
PARADIGMS = ("I", "II", "III", "rank", "2d")


@dataclass(frozen=True)
class Effective:
    """``redundant`` = ``parameters`` - ``effective``. ``gap``: smallest singular value that counts over the largest that does
    not."""

    parameters: int
    effective: int
    gap: float

    @property
    def redundant(self) -> int:
        return self.parameters - self.effective


def effective_numbers(
    terms: Tensor, channels: int, paradigm: str = "2d", *, rank: int = 2, softmax: bool = False, seed: int = 0
) -> Effective:
    """Of (last linear layer with bias, convolution) at random parameters.

    Args:
        terms: (D + 1) x N x (H + 1), T_d(L_hat) [H, 1]: the last hidden layer and a column of ones, filtered.
        softmax: modulo softmax, which does not see what is added to all channels of a node alike.
    """
    one_of("effective_numbers", "paradigm", paradigm, PARADIGMS)
    degrees, _, inputs = terms.shape
    shapes: dict[str, dict[str, tuple[int, ...]]] = {
        "I": {"theta": (degrees,)},
        "II": {"theta": (degrees,), "R": (channels, channels)},
        "III": {"theta": (degrees, channels)},
        "rank": {"G": (degrees, rank), "R": (rank, channels, channels)},
        "2d": {"theta": (degrees, channels, channels)},
    }
    generator = torch.Generator().manual_seed(seed)
    sizes = {"W": (inputs, channels), **shapes[paradigm]}
    values = {name: torch.randn(size, generator=generator, dtype=torch.float64) for name, size in sizes.items()}

    def output(parameters: dict[str, Tensor]) -> Tensor:
        z = torch.einsum("dnh,hc,dcj->nj", terms, parameters["W"], _maps(paradigm, parameters, channels))
        return z - z.mean(dim=1, keepdim=True) if softmax else z

    jacobian = torch.func.jacrev(output)(values)
    matrix = torch.cat([part.reshape(terms.shape[1] * channels, -1) for part in jacobian.values()], dim=1)
    sizes_found = torch.linalg.svdvals(matrix)
    counted = int((sizes_found > 1e-9 * sizes_found[0]).sum())
    rest = float(sizes_found[counted]) if counted < len(sizes_found) else 0.0
    return Effective(matrix.shape[1], counted, float(sizes_found[counted - 1]) / max(rest, 1e-300))


def _maps(paradigm: str, parameters: dict[str, Tensor], channels: int) -> Tensor:
    """W_d: (D + 1) x C x C."""
    identity = torch.eye(channels, dtype=torch.float64)
    if paradigm == "I":
        return parameters["theta"][:, None, None] * identity
    if paradigm == "II":
        return parameters["theta"][:, None, None] * parameters["R"]
    if paradigm == "III":
        return parameters["theta"][:, :, None] * identity
    return torch.einsum("di,icj->dcj", parameters["G"], parameters["R"]) if paradigm == "rank" else parameters["theta"]
