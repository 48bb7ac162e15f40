"""Golden vectors: published implementations' inputs, parameters, outputs and gradients on a small graph.

They are not part of the repository. They are looked for in the folder that CHEBNET2D_ORACLES names, else in ../shared/oracles
beside the repository; where there are none, the tests that want them are skipped with the reason.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

Arrays = dict[str, np.ndarray]
Source = str | Callable[[Mapping[str, np.ndarray]], np.ndarray]
"""Where a parameter of ours comes from: a published name, a name with ".T" for its transpose, or a rearrangement of arrays."""


def oracle_folder() -> Path | None:
    named = os.environ.get("CHEBNET2D_ORACLES")
    folder = Path(named) if named else Path(__file__).resolve().parents[1].parent / "shared" / "oracles"
    return folder / "a" if (folder / "a").is_dir() else None


@dataclass(frozen=True)
class Vector:
    """One file. ``arrays`` holds everything, under the names of the file."""

    name: str
    arrays: Arrays
    config: dict[str, Any]

    def part(self, prefix: str) -> Arrays:
        """The arrays under ``prefix:``, without it."""
        start = f"{prefix}:"
        return {key.removeprefix(start): value for key, value in self.arrays.items() if key.startswith(start)}

    def tensor(self, key: str) -> torch.Tensor:
        return torch.from_numpy(self.arrays[key])

    @property
    def x(self) -> torch.Tensor:
        return self.tensor("x")

    @property
    def edge_index(self) -> torch.Tensor:
        return self.tensor("edge_index")


def read_vector(name: str) -> Vector:
    folder = oracle_folder()
    if folder is None:
        pytest.skip("no golden vectors: set CHEBNET2D_ORACLES to their folder")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        arrays = {key: file[key].copy(order="C") for key in file.files if key != "config"}
        config = json.loads(str(file["config"]))
    return Vector(name, arrays, config)


class _Recorded(dict[str, np.ndarray]):
    """A dictionary that knows which of its keys were asked for."""

    def __init__(self, arrays: Arrays) -> None:
        super().__init__(arrays)
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> np.ndarray:
        self.asked.add(key)
        return super().__getitem__(key)


def _arranged(source: Source, arrays: Mapping[str, np.ndarray]) -> torch.Tensor:
    if callable(source):
        found = source(arrays)
    elif source.endswith(".T"):
        found = arrays[source.removesuffix(".T")].T
    else:
        found = arrays[source]
    return torch.from_numpy(np.ascontiguousarray(found))


def load_parameters(model: nn.Module, vector: Vector, names: Mapping[str, Source]) -> None:
    """The published parameters (and buffers) into ``model``, in float64. Every used published parameter must be mapped."""
    model.double()
    published = _Recorded(vector.part("param") | vector.part("buffer"))
    state = {ours: _arranged(source, published) for ours, source in names.items()}
    expected = {name for name in model.state_dict() if not name.endswith("num_batches_tracked")}
    assert set(state) == expected, f"the map must name every parameter: {set(state) ^ expected}"
    unused = set(vector.config.get("unused_parameters", []))
    assert set(published) - unused <= published.asked, f"published but not mapped: {set(published) - unused - published.asked}"
    for name, value in state.items():
        assert model.state_dict()[name].shape == value.shape, name
    model.load_state_dict(state, strict=False)


def assert_near(found: torch.Tensor, wanted: torch.Tensor | np.ndarray, what: str, tolerance: float = 1e-10) -> None:
    """Largest deviation, relative to the largest value (at least 1e-3: a gradient of zeros must be zeros)."""
    wanted = torch.as_tensor(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {tuple(found.shape)} instead of {tuple(wanted.shape)}"
    scale = max(float(wanted.abs().max()), 1e-3) if wanted.numel() else 1.0
    deviation = float((found.detach() - wanted).abs().max()) / scale if wanted.numel() else 0.0
    assert deviation <= tolerance, f"{what}: off by {deviation:.1e} of the largest value"


def check_vector(
    model: nn.Module,
    vector: Vector,
    names: Mapping[str, Source],
    *,
    input_gradient: bool = True,
    tolerance: float = 1e-10,
) -> None:
    """Output, loss and every gradient of ``model`` in evaluation mode against the published ones."""
    load_parameters(model, vector, names)
    model.eval()
    x = vector.x.requires_grad_(input_gradient)
    out = model(x, vector.edge_index)
    logits = out[0] if isinstance(out, tuple) else out
    log_probabilities = logits.log_softmax(dim=1)
    wanted = vector.arrays["output"]
    assert_near(log_probabilities if vector.config["output_kind"] == "log_softmax" else logits, wanted, "output", tolerance)
    loss = F.nll_loss(log_probabilities, vector.tensor("y"))
    assert_near(loss, vector.arrays["loss"], "loss", tolerance)
    loss.backward()
    gradients = _Recorded(vector.part("grad"))
    parameters = dict(model.named_parameters())
    for ours, source in names.items():
        if ours in parameters:
            found = parameters[ours].grad
            assert found is not None, f"no gradient: {ours}"
            assert_near(found, _arranged(source, gradients), f"gradient of {ours}", tolerance)
    if input_gradient and "grad_x" in vector.arrays:
        assert x.grad is not None
        assert_near(x.grad, vector.arrays["grad_x"], "gradient of x", tolerance)
