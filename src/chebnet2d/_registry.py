"""Objects by name: a decorator registers them, and the modules of a package are imported so that each can register its own."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from chebnet2d._checks import InputError, one_of

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """A mapping that grows by registration. A name is taken once; an unknown one is told with near ones.

    >>> norms = Registry("norm")
    >>> @norms.register("l1")
    ... def l1(x):
    ...     return abs(x).sum()
    >>> list(norms), norms.find("l1", "normalise") is l1
    (['l1'], True)
    """

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self._known: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """``@registry.register("name")`` above a function or class; it stays as it is."""

        def add(item: T) -> T:
            self.add(name, item)
            return item

        return add

    def add(self, name: str, item: T) -> None:
        if name in self._known:
            held: Any = self._known[name]
            held = held if hasattr(held, "__qualname__") else type(held)
            raise InputError(self.noun, "name", "new", got=f"{name!r}, which is {held.__module__}.{held.__qualname__}")
        self._known[name] = item

    def find(self, name: object, owner: str, argument: str = "name") -> T:
        return self._known[one_of(owner, argument, name, self._known)]

    def __getitem__(self, name: str) -> T:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def import_modules(package: str) -> None:
    """Import every module of a package, so that a new file in it takes part without being named anywhere."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
