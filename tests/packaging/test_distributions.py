"""What is in the wheel and in the sdist, and that one makes the other."""

import re
import subprocess
import tarfile

import pytest

import chebnet2d
from distributions import ROOT, build, files_of

pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("built")
    return {kind: build(kind, out) for kind in ("wheel", "sdist")}


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built):
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tracked:
        pytest.skip("not a checkout")
    expected = {name.removeprefix("src/") for name in tracked if (ROOT / name).exists()}
    names = {name for name in files_of(built["wheel"]) if ".dist-info/" not in name}
    assert {name for name in names if "__pycache__" not in name} >= expected
    assert all(name.startswith("chebnet2d/") for name in names)
    assert not [name for name in names if re.search(r"tests?/|\.parquet$|\.png$", name)]
    kinds = ("py.typed", "methods.toml", "catalogue.toml", "published.json", "karate.txt", "presets/chebnet2d.toml")
    assert [kind for kind in kinds if not any(name.endswith(kind) for name in names)] == []


def test_the_wheel_says_what_it_is(built):
    facts = {name: text for name, text in files_of(built["wheel"]).items() if ".dist-info/" in name}
    metadata = next(text for name, text in facts.items() if name.endswith("METADATA")).decode()
    assert f"Version: {chebnet2d.__version__}\n" in metadata
    assert "License-Expression: MIT\n" in metadata
    assert any(name.endswith("licenses/LICENSE") for name in facts)
    assert "chebnet2d = chebnet2d.cli:main" in next(text for name, text in facts.items() if "entry_points" in name).decode()


def test_the_sdist_makes_the_same_wheel(built, tmp_path):
    names = files_of(built["sdist"])
    assert not [name for name in names if re.match(r"tests|docs|results|benchmarks|\.", name) and name != ".gitignore"]
    with tarfile.open(built["sdist"]) as packed:
        packed.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    again = files_of(build("wheel", tmp_path, folder))
    assert again == files_of(built["wheel"])


def test_one_version_everywhere():
    version = chebnet2d.__version__
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version = {{{version}}}" in (ROOT / "docs" / "cite.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
