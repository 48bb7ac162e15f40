"""Arms: variations of a method that a study compares under names of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d.models import MODELS, find_model, parse_method
from chebnet2d.recipes import Recipe, change_recipe, load_recipe


@dataclass(frozen=True)
class Arm:
    """A method in any of its spellings, with arguments, settings and a transform that are fixed for all datasets."""

    method: str
    model: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    transform: str | None = None

    @classmethod
    def of(cls, name: str, values: Any) -> "Arm":
        """From the table ``[arms.NAME]`` of a file, or from JSON; an ``Arm`` stays as it is."""
        table: Any = vars(values) if isinstance(values, Arm) else values
        if not isinstance(table, Mapping):
            raise InputError("Protocol", f"arms.{name}", "a table with a method", values)
        for key in table:
            one_of("Protocol", f"a name in arms.{name}", key, tuple(cls.__dataclass_fields__))
        for part in ("model", "settings"):
            if not isinstance(table.get(part, {}), Mapping):
                raise InputError("Protocol", f"arms.{name}.{part}", "a table of names and values", table[part])
        if not name or ":" in name:
            raise InputError("Protocol", "the name of an arm", "a text without a colon", name)
        if "method" not in table:
            raise InputError("Protocol", f"arms.{name}", "a method", got="none", verb="have")
        if name in MODELS and parse_method(table["method"]).model != name:  # a table would show it under another title
            raise InputError("Protocol", f"arms.{name}", "of that method, whose name it has", table["method"])
        try:
            find_model(table["method"])
        except InputError as error:
            raise InputError(**{**vars(error), "owner": "Protocol", "argument": f"arms.{name}.method"}) from None
        return cls(**table)

    def recipe(self, dataset: str, preset: str | None, *, searched: bool = True) -> Recipe:
        """``preset``, ``searched``: as in ``load_recipe``."""
        base = load_recipe(self.method, dataset, preset, searched=searched)
        return change_recipe(base, model=self.model, settings=self.settings, transform=self.transform)
