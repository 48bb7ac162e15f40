"""chebnet2d: spectral graph neural networks with one filter per pair of channels.

Subpackages are imported on first use, so that ``import chebnet2d`` and ``chebnet2d --help`` are fast.
"""

import importlib
from typing import TYPE_CHECKING, Any

from chebnet2d._version import __version__ as __version__

if TYPE_CHECKING:
    from chebnet2d import (
        bases,
        cluster,
        conv,
        data,
        graph,
        kernels,
        models,
        nn,
        plots,
        polynomials,
        recipes,
        reports,
        search,
        study,
        theory,
        training,
    )
    from chebnet2d._checks import InputError
    from chebnet2d.models import ChebNet2D, load, save
    from chebnet2d.training import Result, fit

__all__ = [
    "ChebNet2D",
    "InputError",
    "Result",
    "bases",
    "cluster",
    "conv",
    "data",
    "fit",
    "graph",
    "kernels",
    "load",
    "models",
    "nn",
    "plots",
    "polynomials",
    "recipes",
    "reports",
    "save",
    "search",
    "study",
    "testing",
    "theory",
    "training",
]
_HOMES = {"_checks": ("InputError",), "models": ("ChebNet2D", "load", "save"), "training": ("Result", "fit")}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"chebnet2d.{home}"), name)
    if name in __all__:
        return importlib.import_module(f"chebnet2d.{name}")
    raise AttributeError(f"module 'chebnet2d' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
