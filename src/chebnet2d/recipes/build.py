"""From a method's name to a model of the right size."""

import inspect
from typing import Any

from chebnet2d import data as datasets
from chebnet2d._checks import InputError
from chebnet2d.models import NodeClassifier, find_model


def build_model(method: str, data: Any, arguments: dict[str, Any]) -> NodeClassifier:
    """A model of a method for a dataset: sizes from the data, the rest from the arguments."""
    cls = find_model(method)
    sizes = {"in_channels": data.num_features, "out_channels": datasets.num_classes(data)}
    if "num_nodes" in inspect.signature(cls).parameters:
        sizes["num_nodes"] = data.num_nodes
    try:
        return cls(**{**sizes, **arguments})
    except TypeError as error:
        if isinstance(error, InputError):
            raise
        raise InputError("build_model", f"the arguments of {method!r}", f"those of {cls.__name__}", reason=str(error)) from None
