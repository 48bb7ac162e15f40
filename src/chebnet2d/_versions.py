"""What a record was made with."""

import platform

import torch

from chebnet2d._version import __version__


def versions() -> dict[str, str]:
    return {"chebnet2d": __version__, "torch": str(torch.__version__), "python": platform.python_version()}
