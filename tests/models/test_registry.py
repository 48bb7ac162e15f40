"""Methods by name, from files and from other packages."""

import importlib.metadata
import subprocess
import sys

import pytest

import chebnet2d
from chebnet2d import InputError
from chebnet2d.models import GPRGNN, MODELS, MethodName, MLPClassifier, find_model, model_name, parse_method, register

FILE = '''
from chebnet2d.models import MLPClassifier

class Mine(MLPClassifier):
    """Of the user."""

NUMBER = 3
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my_file.py"
    path.write_text(FILE)
    return path


def test_registry_refuses_duplicates():
    assert MODELS["chebnet2d"] is chebnet2d.ChebNet2D
    with pytest.raises(ValueError, match="name must be new, got 'chebnet2d'"):
        register("chebnet2d")(chebnet2d.ChebNet2D)


@pytest.mark.parametrize(
    ("text", "model", "variant"),
    [
        ("gprgnn", "gprgnn", None),
        ("gprgnn:unified", "gprgnn", "unified"),
        ("chebnet2d:unified", "chebnet2d", "unified"),
        ("my_file.py:Mine", "my_file.py:Mine", None),
        ("a/my_file.py:Mine:faithful", "a/my_file.py:Mine", "faithful"),
        ("C:\\own\\my_file.py:Mine:unified", "C:\\own\\my_file.py:Mine", "unified"),
        ("my_package.module:Mine", "my_package.module:Mine", None),
        ("my_package.module:Mine:unified", "my_package.module:Mine", "unified"),
    ],
)
def test_methods_are_read_in_one_place(text, model, variant):
    found = parse_method(text)
    assert found == MethodName(model, variant)
    assert str(found) == text


def test_a_method_that_cannot_be_read():
    with pytest.raises(InputError, match="the variant of 'gprgnn' must be one of 'faithful', 'unified'.* Did you mean 'unified'"):
        parse_method("gprgnn:unifed")
    for wrong in ("", ":", None, 3):
        with pytest.raises(InputError, match="method must be a name, 'name:variant', 'file.py:Class'"):
            parse_method(wrong)


def test_every_spelling_finds_the_class(file, monkeypatch):
    assert find_model("gprgnn") is find_model("gprgnn:unified") is find_model(GPRGNN) is GPRGNN
    assert find_model("chebnet2d.models:GPRGNN") is find_model("chebnet2d.models.gprgnn:GPRGNN:unified") is GPRGNN
    mine = find_model(f"{file}:Mine")
    assert issubclass(mine, MLPClassifier)
    assert mine is find_model(f"{file}:Mine:unified"), "a file is run once"
    monkeypatch.chdir(file.parent)
    assert find_model("my_file.py:Mine") is mine
    assert model_name(mine) == f"{file}:Mine"
    monkeypatch.syspath_prepend(file.parent)
    file.rename(file.with_name("my_module.py"))
    assert find_model("my_module:Mine").__module__ == "my_module"


def test_a_relative_path_is_that_of_the_folder_we_are_in(tmp_path, monkeypatch):
    found = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same_name.py").write_text(FILE)
        monkeypatch.chdir(tmp_path / folder)
        found.append(find_model("same_name.py:Mine"))
    assert found[0] is not found[1]


def test_classes_without_a_name_are_named_by_their_module():
    class Local(MLPClassifier):
        pass

    assert model_name(Local).endswith(":test_classes_without_a_name_are_named_by_their_module.<locals>.Local")
    assert find_model(Local) is Local


def test_what_cannot_be_found(file):
    with pytest.raises(InputError, match="method must be one of .*'gprgnn'.* Did you mean 'gprgnn'"):
        find_model("gprgn")
    with pytest.raises(InputError, match="must be a Python file, got 'no_file.py', which does not exist"):
        find_model("no_file.py:Mine")
    with pytest.raises(InputError, match="method must name a class of .*my_file.py, got '"):
        find_model(f"{file}:Yours")
    with pytest.raises(
        InputError, match="'NUMBER' in .*my_file.py must be a NodeClassifier, got 3 .*class on chebnet2d.models.Nod"
    ):
        find_model(f"{file}:NUMBER")
    with pytest.raises(InputError, match="method must be a NodeClassifier, got dict"):
        find_model(dict)
    for text in ("no_package.part:Mine", ".part:Mine", "gprgn:unifed"):
        with pytest.raises(InputError, match="method must be a method that can be found, got .* there is no module"):
            find_model(text)
    file = file.with_name("with_a_mistake.py")
    file.write_text("import no_such_package_of_the_user")
    with pytest.raises(ModuleNotFoundError, match="no_such_package_of_the_user"):  # its own mistake keeps its own traceback
        find_model(f"{file}:Mine")


class Point:
    def __init__(self, name, loaded):
        self.name, self.load = name, lambda: loaded


def test_entry_points(monkeypatch):
    class Theirs(MLPClassifier):
        pass

    asked = []

    def points(group):
        asked.append(group)
        return [Point("theirs", Theirs), Point("wrong", 3)]

    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    try:
        assert find_model("gprgnn") is GPRGNN
        assert asked == [], "looked up only for a name that is not known"
        assert find_model("theirs:unified") is Theirs
        assert asked == ["chebnet2d.methods"]
        assert MODELS["theirs"] is Theirs
        with pytest.raises(InputError, match="the entry point 'wrong' must be a NodeClassifier"):
            find_model("wrong")
        with pytest.raises(InputError, match="Did you mean 'theirs'"):
            find_model("their")
    finally:
        MODELS.pop("theirs", None)


def test_a_module_in_the_folder_is_found_by_itself(tmp_path):
    """One file is all that a new method takes."""
    (tmp_path / "another.py").write_text(
        "from chebnet2d.models.mlp_classifier import MLPClassifier\n"
        "from chebnet2d.models.registry import register\n"
        "@register('another')\nclass Another(MLPClassifier):\n    pass\n"
    )
    code = (
        "import pkgutil, sys\n"
        "scan = pkgutil.iter_modules\n"
        "def more(path=None, *rest):\n"
        "    if path and str(path[0]).endswith('models'): path.append(sys.argv[1])\n"
        "    return scan(path, *rest)\n"
        "pkgutil.iter_modules = more\n"
        "from chebnet2d.models import find_model\n"
        "print(find_model('another').__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Another"
