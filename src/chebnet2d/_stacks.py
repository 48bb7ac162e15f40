"""Stacks of runs, as ``torch.func.vmap`` passes them to an autograd function, and what else the transforms of torch ask for."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack as outside_transforms

__all__ = ["StackFunction", "is_wrapped", "not_compiled", "outside_transforms", "unwrapped", "with_runs"]

F = TypeVar("F", bound=Callable[..., Any])


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


def is_wrapped(tensor: Tensor) -> bool:
    """Whether a tensor belongs to a ``torch.func`` transform that is under way: it has no memory that could be looked at."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def unwrapped(tensor: Tensor) -> Tensor:
    """What is inside of the wrappers that ``torch.func.grad`` puts around all its arguments, if it is a constant there.

    A tensor that has a gradient, or is one of a stack, is returned as it is.
    """
    inner = tensor
    while torch._C._functorch.is_gradtrackingtensor(inner) and not inner.requires_grad:
        inner = torch._C._functorch.get_unwrapped(inner)
    return tensor if is_wrapped(inner) else inner


def not_compiled(function: F) -> F:
    """The same function; ``torch.compile`` runs it between two parts of its graph instead of looking into it."""
    return torch.compiler.disable(function)
