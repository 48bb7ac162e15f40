"""What is given: F and Z on a graph."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph import Graph, Spectrum, operator_of
from chebnet2d.theory.reduction import Array, clean


@dataclass(frozen=True)
class Signals:
    """F (``signal``, N x C) and Z (``target``, N x C') in float64, with their transforms F^ (``f``) and Z^ (``z``)."""

    spectrum: Spectrum
    signal: Tensor
    target: Tensor
    f: Array
    z: Array

    @classmethod
    def of(cls, owner: str, graph: Graph | Spectrum, F: Any, Z: Any, zero: float = 0.0) -> "Signals":
        """``owner``: the function that errors name. Entries of F^ below ``zero`` times the largest one become 0."""
        signal, target = _matrix(owner, "F", F), _matrix(owner, "Z", Z)
        nodes = signal.shape[0]
        if target.shape[0] != nodes:
            raise InputError(owner, "Z", f"as many rows as F, {nodes}", got=str(target.shape[0]), verb="have")
        spectrum = graph if isinstance(graph, Spectrum) else Spectrum.of(operator_of(graph, None, signal, owner=owner))
        if spectrum.num_nodes != nodes:
            raise InputError(owner, "F", f"{spectrum.num_nodes} rows, as the spectrum", got=str(nodes), verb="have")
        f, z = clean(spectrum.transform(signal).numpy(), zero), spectrum.transform(target).numpy()
        return cls(spectrum, signal, target, f, z)


def _matrix(owner: str, name: str, value: Any) -> Tensor:
    """N x C finite numbers as float64."""
    try:
        tensor = torch.as_tensor(value).detach().cpu().to(torch.float64)
    except (TypeError, ValueError, RuntimeError):
        tensor = torch.empty(0)
    if tensor.dim() != 2 or tensor.numel() == 0 or not bool(torch.isfinite(tensor).all()):
        raise InputError(owner, name, "N x C finite numbers", value)
    return tensor
