"""Modules that know the arguments of their constructor, from which a module of the same shape can be made."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from torch import nn


class Configured(nn.Module):
    """``varies_in_stack`` names the constructor's arguments in which the runs of one stack may differ: dropout rates, constants
    that are buffers, and what only the initialisation reads. In all others they must agree, see ``stack_key``.

    ``groups`` says which parameters have an optimiser group of their own: group name -> prefixes of parameter names. All others
    are in the group "weights". The trainer reads it; it is data, not code.
    """

    varies_in_stack: frozenset[str] = frozenset({"dropout", "filter_dropout"})
    groups: ClassVar[dict[str, tuple[str, ...]]] = {}
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
        return tuple(sorted((name, repr(value)) for name, value in self._config.items() if name not in self.varies_in_stack))

    def _constructed(self) -> None:
        """Called when a constructor has run."""

    def group_of(self, parameter_name: str) -> str:
        return group_by_prefix(self.groups, parameter_name)


def group_by_prefix(groups: Mapping[str, tuple[str, ...]], parameter_name: str) -> str:
    for group, prefixes in groups.items():
        if parameter_name.startswith(prefixes):
            return group
    return "weights"


def _remembering(init: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(init)

    @functools.wraps(init)
    def remember_and_init(self: Configured, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        bound.apply_defaults()
        if "_config" not in vars(self):  # else a subclass has remembered its own, and calls this one
            self._config = dict(list(bound.arguments.items())[1:])
            for name, parameter in signature.parameters.items():
                if parameter.kind is parameter.VAR_KEYWORD:
                    self._config.update(self._config.pop(name))
        init(*bound.args, **bound.kwargs)
        self._constructed()

    return remember_and_init
