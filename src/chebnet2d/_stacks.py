"""Stacks of runs, as ``torch.func.vmap`` passes them to the rule of an autograd function."""

from collections.abc import Iterable
from typing import Any, ClassVar

import torch
from torch import Tensor


class StackFunction(torch.autograd.Function):
    """An autograd function that computes one run or a stack of runs, with the runs in dimension ``at`` of all its tensors.

    Under ``vmap`` it is called once, with the stack. Unless a subclass says otherwise, the first argument is a constant, for the
    backward pass in ``ctx.operator``, and all others are tensors that are saved.
    """

    at: ClassVar[int] = 0

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.operator, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @classmethod
    def vmap(cls, info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, int]:
        return cls.apply(*with_runs(info, in_dims, *arguments, at=cls.at)), cls.at


def with_runs(info: Any, in_dims: Iterable[int | None], *arguments: Any, at: int = 0) -> list[Any]:
    """The arguments of a rule, each tensor with the runs in dimension ``at``; one that all runs share is expanded, not copied.

    ``info`` and ``in_dims`` are the other arguments of the rule: the number of runs, and their dimension in each tensor.
    """
    stacked = []
    for argument, dim in zip(arguments, in_dims, strict=True):
        if not isinstance(argument, Tensor):
            stacked.append(argument)
        elif dim is None:
            stacked.append(argument.unsqueeze(at).expand(*argument.shape[:at], info.batch_size, *argument.shape[at:]))
        else:
            stacked.append(argument.movedim(dim, at))
    return stacked
