"""`make test-oldest`: tests of several floors with the lower bounds of pyproject.toml, in .venv-oldest.

torch, whose bound is the version that is tested, and the tools of the tests are those of .venv; all others are the oldest.
"""

import re
import subprocess
import sys
import sysconfig
import tomllib
import venv

from distributions import ROOT

TESTS = (
    "tests/polynomials",
    "tests/graph",
    "tests/nn",
    "tests/models/test_saving.py",
    "tests/training/test_fit.py",
    "tests/data/own_graph/test_formats.py",
    "tests/cli/test_train_and_predict.py",
    "tests/plots/test_filters.py",
)
PLACE = ROOT / ".venv-oldest"


def oldest(requirements: list[str]) -> list[str]:
    """``numpy>=1.26,<3`` -> ``numpy==1.26.*``: the last correction of the oldest version."""
    bounds = [re.match(r"([\w-]+)>=([\d.]+)", requirement).groups() for requirement in requirements]
    return [f"{name}=={version}.*" for name, version in bounds if name != "torch"]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if not PLACE.exists():
        venv.create(PLACE, with_pip=True)
    python = PLACE / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip()
    tools = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (ROOT / own / "tools-of-venv.pth").write_text(tools, encoding="utf-8")
    names = oldest(project["project"]["dependencies"])
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--ignore-installed"]
    subprocess.run([*pip, *names], check=True)
    print("tested with", " ".join(names), flush=True)
    # Old versions warn of what newer ones below them have: of interest here is whether the numbers are right.
    subprocess.run([python, "-m", "pytest", "-q", "-W", "default", *TESTS], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
