"""`make test-wheel`: the wheel in an empty environment, with constraints.txt and nothing else of the repository."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from distributions import ROOT, build

COMMANDS = (
    ("--version",),
    ("models",),
    ("theory",),
    ("train", "digits", "--epochs", "20", "--save", "model"),
    ("predict", "model", "digits", "--out", "p.csv"),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        wheel = build("wheel", place)
        venv.create(place / "venv", with_pip=True)
        binaries = place / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        install = [
            binaries / "python",
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "-c",
            ROOT / "constraints.txt",
            wheel,
        ]
        subprocess.run(install, check=True)
        (place / "work").mkdir()
        for command in COMMANDS:
            print("$ chebnet2d", *command, flush=True)
            subprocess.run([binaries / "chebnet2d", *command], cwd=place / "work", check=True, stdout=subprocess.DEVNULL)
    print("the wheel works")


if __name__ == "__main__":
    main()
