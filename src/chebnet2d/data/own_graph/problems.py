"""What is wrong with the parts of a graph, told together: a user corrects all files at once, not one per run."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from chebnet2d._checks import InputError

P = ParamSpec("P")
T = TypeVar("T")


class Problems:
    """Errors of parts that do not need each other. ``told`` raises them, if there are any."""

    def __init__(self) -> None:
        self.found: list[InputError] = []

    def of(self, read: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T | None:
        """What ``read`` gives; None where it has raised, which is kept."""
        try:
            return read(*arguments, **options)
        except InputError as error:
            self.found.append(error)
            return None

    def told(self) -> None:
        """One sentence for one problem; several follow each other."""
        if not self.found:
            return
        first = self.found[0]
        details = {name: getattr(first, name) for name in ("got", "reason", "verb", "mentions")}
        others = " ".join(error.sentence() for error in self.found[1:])
        hint = " ".join(part for part in (first.hint, others.replace("{", "{{").replace("}", "}}")) if part)
        raise InputError(first.owner, first.argument, first.rule, first.value, hint, **details)
