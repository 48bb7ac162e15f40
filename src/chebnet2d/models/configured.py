"""Modules that know the arguments of their constructor, from which a module of the same shape can be made."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from torch import nn


class Configured(nn.Module):
    """``free`` names the constructor's arguments in which the runs of one stack may differ: dropout rates, constants that are
    buffers, and what only the initialisation reads. In all others they must agree, see ``stack_key``.
    """

    free: ClassVar[frozenset[str]] = frozenset({"dropout", "filter_dropout"})
    _config: dict[str, Any]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _remembering(cls.__init__)  # type: ignore[method-assign]

    @property
    def config(self) -> dict[str, Any]:
        """The constructor's arguments: ``type(model)(**model.config)`` is a model of the same shape."""
        return dict(self._config)

    @property
    def stack_key(self) -> tuple[tuple[str, str], ...]:
        """Models with equal keys may be trained in one stack."""
        return tuple(sorted((name, repr(value)) for name, value in self._config.items() if name not in self.free))


def _remembering(init: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(init)

    @functools.wraps(init)
    def remember_and_init(self: Configured, *args: Any, **kwargs: Any) -> None:
        if "_config" not in vars(self):  # else a subclass has remembered its own, and calls this one
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{type(self).__name__}: {error}") from None
            bound.apply_defaults()
            self._config = _by_name(bound)
        init(self, *args, **kwargs)

    return remember_and_init


def _by_name(bound: inspect.BoundArguments) -> dict[str, Any]:
    """All but ``self``, with the entries of ``**options`` as arguments of their own."""
    arguments = dict(list(bound.arguments.items())[1:])
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments.update(arguments.pop(name))
    return arguments
