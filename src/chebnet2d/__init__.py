"""chebnet2d: spectral graph neural networks with one filter per pair of channels.

Subpackages are imported on first use, so that ``import chebnet2d`` and ``chebnet2d --help`` are fast.
"""

import importlib
from typing import TYPE_CHECKING, Any

from chebnet2d._version import __version__ as __version__

if TYPE_CHECKING:
    from chebnet2d import (
        auto,
        bases,
        cluster,
        conv,
        data,
        explanations,
        graph,
        html_reports,
        kernels,
        models,
        nn,
        plots,
        polynomials,
        preparation,
        recipes,
        reports,
        search,
        study,
        theory,
        training,
    )
    from chebnet2d._checks import InputError
    from chebnet2d.auto import NodePredictor
    from chebnet2d.explanations import explain
    from chebnet2d.graph_classifier import GraphClassifier
    from chebnet2d.html_reports import report
    from chebnet2d.models import ChebNet2D, load, save
    from chebnet2d.predictions import predict
    from chebnet2d.training import Result, fit

__all__ = [
    "ChebNet2D",
    "GraphClassifier",
    "InputError",
    "NodePredictor",
    "Result",
    "auto",
    "bases",
    "cluster",
    "conv",
    "data",
    "explain",
    "explanations",
    "fit",
    "graph",
    "html_reports",
    "kernels",
    "load",
    "models",
    "nn",
    "plots",
    "polynomials",
    "predict",
    "preparation",
    "recipes",
    "report",
    "reports",
    "save",
    "search",
    "study",
    "testing",
    "theory",
    "training",
]
_HOMES = {
    "_checks": ("InputError",),
    "auto": ("NodePredictor",),
    "explanations": ("explain",),
    "graph_classifier": ("GraphClassifier",),
    "html_reports": ("report",),
    "models": ("ChebNet2D", "load", "save"),
    "training": ("Result", "fit"),
    "predictions": ("predict",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"chebnet2d.{home}"), name)
    if name in __all__:
        return importlib.import_module(f"chebnet2d.{name}")
    raise AttributeError(f"module 'chebnet2d' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
