"""Wheel and sdist, built from the tree by hatchling, without the network and without another environment."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = "import sys, hatchling.build as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"


def build(kind: str, out: Path, source: Path = ROOT) -> Path:
    """``kind``: wheel or sdist."""
    command = [sys.executable, "-c", BUILD, kind, str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


def files_of(archive: Path) -> dict[str, bytes]:
    """Name -> content; names of an sdist without its first folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(archive) as packed:
        members = [member for member in packed.getmembers() if member.isfile()]
        return {member.name.split("/", 1)[1]: packed.extractfile(member).read() for member in members}
