"""A model from the arguments in a file, which may be anybody's: what it would take is known before it is taken.

A constructor takes numbers and allocates. So the numbers are compared with the shapes of the weights that come with them, and the
tensors that are made are counted: a model needs little more than its weights.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from chebnet2d._checks import InputError

_COUNT = 4096  # a number that needs no weights to be believed: terms, steps, layers
_BYTES = 256 * 2**20  # that a constructor may take in any case, temporaries included
_COPIES = 64  # tensors of the size of the weights, one after the other, until they are initialised
_WRONG = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


def build(kind: type[nn.Module], name: str, arguments: Mapping[str, Any], weights: Mapping[str, Tensor]) -> nn.Module:
    """``kind(**arguments)``. Arguments that do not fit it, or a model that is far larger than its weights, are an error."""
    largest = max([_COUNT, *(size for tensor in weights.values() for size in tensor.shape)])
    for number in _integers(arguments.values()):
        if abs(number) > largest:
            rule = f"numbers up to {largest}, the largest size of its weights"
            raise InputError("load", "the arguments in config.json", rule, number)
    limit = _BYTES + _COPIES * sum(tensor.nbytes for tensor in weights.values())
    try:
        with _Counted(limit):
            return kind(**arguments)
    except InputError:
        raise
    except _WRONG as error:
        reason = str(error) or type(error).__name__
        raise InputError("load", "config.json", f"the arguments of {name}", reason=reason, verb="hold") from None


def _integers(values: Iterable[Any]) -> Iterable[int]:
    for value in values:
        if isinstance(value, int):
            yield value
        elif isinstance(value, dict):
            yield from _integers(value.values())
        elif isinstance(value, list):
            yield from _integers(value)


class _Counted(TorchDispatchMode):
    """While this lasts, the bytes of the tensors that operations give are added up. Fresh memory is not touched before that."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.left = limit

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = operation(*args, **(kwargs or {}))
        self.left -= sum(leaf.nbytes for leaf in tree_leaves(made) if isinstance(leaf, Tensor) and leaf.layout == torch.strided)
        if self.left < 0:
            raise InputError("load", "the model in config.json", "of the size of its weights", got="a far larger one")
        return made
