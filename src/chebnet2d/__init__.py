"""chebnet2d: spectral graph neural networks with one filter for each pair of channels.

Everything loads on first use, so that ``import chebnet2d`` and ``chebnet2d --help`` cost nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from chebnet2d._version import __version__ as __version__

if TYPE_CHECKING:
    from chebnet2d import conv, data, graph, models, nn, plots, polynomials, theory, training
    from chebnet2d._checks import InputError
    from chebnet2d.models import ChebNet2D, load, save
    from chebnet2d.training import Result, fit

_SUBPACKAGES = (
    "bases",
    "cluster",
    "conv",
    "data",
    "graph",
    "kernels",
    "models",
    "nn",
    "plots",
    "polynomials",
    "recipes",
    "reports",
    "search",
    "study",
    "theory",
    "training",
)
_NAMES = {
    "ChebNet2D": "chebnet2d.models",
    "InputError": "chebnet2d._checks",
    "Result": "chebnet2d.training",
    "fit": "chebnet2d.training",
    "load": "chebnet2d.models",
    "save": "chebnet2d.models",
}

__all__ = [
    "ChebNet2D",
    "InputError",
    "Result",
    "conv",
    "data",
    "fit",
    "graph",
    "load",
    "models",
    "nn",
    "plots",
    "polynomials",
    "save",
    "theory",
    "training",
]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"chebnet2d.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'chebnet2d' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
