"""Stacks of runs, as ``torch.func.vmap`` passes them to the rule of an autograd function."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor


def with_runs(info: Any, in_dims: Iterable[int | None], *tensors: Tensor, at: int = 0) -> list[Tensor]:
    """Every tensor with the runs in dimension ``at``; a tensor that all runs share is expanded, not copied.

    ``info`` and ``in_dims`` are the arguments of the rule: the number of runs, and the dimension of the runs in each tensor.
    """
    stacked = []
    for tensor, dim in zip(tensors, in_dims, strict=True):
        if dim is None:
            shape = [*tensor.shape[:at], info.batch_size, *tensor.shape[at:]]
            stacked.append(tensor.unsqueeze(at).expand(shape))
        else:
            stacked.append(tensor.movedim(dim, at))
    return stacked
