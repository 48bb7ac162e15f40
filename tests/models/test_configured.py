"""Modules that remember the arguments they were made with."""

import copy
import inspect

import pytest

from chebnet2d.models.configured import Configured


class _Configured(Configured):
    def __init__(self, width: int, dropout: float = 0.5, **options: int) -> None:
        super().__init__()
        self.seen_before_it_was_built = self.config


class _Narrow(_Configured):
    def __init__(self, name: str) -> None:
        super().__init__(2, depth=3)


def test_a_module_remembers_the_arguments_of_its_constructor():
    module = _Configured(4, depth=2)
    assert module.config == module.seen_before_it_was_built == {"width": 4, "dropout": 0.5, "depth": 2}
    assert copy.deepcopy(module).config == module.config
    assert _Narrow("n").config == {"name": "n"}, "those of its own constructor, not of the one that is called from there"
    assert list(inspect.signature(_Configured).parameters) == ["width", "dropout", "options"]
    assert module.stack_key == _Configured(4, dropout=0.1, depth=2).stack_key != _Configured(5, depth=2).stack_key
    module.config["width"] = 7
    assert module.config["width"] == 4, "what is given out is a copy"
    with pytest.raises(TypeError, match="_Configured: missing a required argument: 'width'"):
        _Configured()
