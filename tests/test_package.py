"""The package as it is installed: one version, its types, names that load on first use."""

import tomllib
from pathlib import Path

import pytest

import chebnet2d

SOURCE = Path(chebnet2d.__file__).parent
PYPROJECT = SOURCE.parent.parent / "pyproject.toml"


@pytest.mark.skipif(not PYPROJECT.exists(), reason="not a checkout")
def test_the_build_reads_the_version_of_the_package():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    path = PYPROJECT.parent / project["tool"]["hatch"]["version"]["path"]
    assert path == SOURCE / "_version.py"
    assert f'__version__ = "{chebnet2d.__version__}"' in path.read_text(encoding="utf-8")


def test_nothing_else_states_or_looks_up_the_version():
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "importlib.metadata" not in text or "entry_points" in text, path
        assert '__version__ = "' not in text or path.name == "_version.py", path


def test_types_are_shipped():
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize("name", chebnet2d.__all__)
def test_public_names_load_on_first_use(name):
    assert getattr(chebnet2d, name) is not None
    assert name in dir(chebnet2d)
