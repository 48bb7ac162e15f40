"""Objects by name."""

import sys

import pytest

from chebnet2d import InputError
from chebnet2d._registry import Registry, import_modules


def test_modules_of_a_package_register_themselves(tmp_path, monkeypatch):
    package = tmp_path / "colours"
    package.mkdir()
    (package / "__init__.py").write_text("from chebnet2d._registry import Registry\nCOLOURS = Registry('colour')\n")
    for name in ("red", "green"):
        (package / f"{name}.py").write_text(f"from colours import COLOURS\nCOLOURS.add({name!r}, len({name!r}))\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_modules("colours")
    colours = sys.modules["colours"].COLOURS
    assert dict(colours) == {"green": 5, "red": 3}


def test_names():
    numbers = Registry("number")
    assert numbers.register("one")(1) == 1
    assert numbers.find("one", "count") == numbers["one"] == 1
    assert len(numbers) == 1
    with pytest.raises(InputError, match="number: name must be new, got 'one'"):
        numbers.add("one", 2)
    with pytest.raises(InputError, match="count: word must be one of 'one', got 'ones'. Did you mean 'one'?"):
        numbers.find("ones", "count", "word")
