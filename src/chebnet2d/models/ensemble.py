"""Several models with one answer: the mean of their probabilities.

On disk a folder with ``predictor.json`` and, for each member, a folder with its models, each in the format of ``save``.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from chebnet2d._checks import InputError, real
from chebnet2d._documents import check_fields, read_document
from chebnet2d.graph import Graph, GraphData
from chebnet2d.models.label_sets import LabelSets
from chebnet2d.models.node_classifier import NodeClassifier, Prediction, logits_of
from chebnet2d.models.on_bases import OnBases
from chebnet2d.models.on_graph import OnGraph
from chebnet2d.models.saving import load, preparation_of, save
from chebnet2d.models.seen_nodes import SeenNodes
from chebnet2d.nn import Features

FORMAT = "chebnet2d-predictor-1"
FILE = "predictor.json"
_NODES = "nodes.safetensors"
_MODEL = re.compile(r"member-\d{1,4}/model-\d{1,4}")  # no other path: a predictor is its folder


class Ensemble(NodeClassifier):
    """The mean over members of the mean over the models of each. Every member counts the same, however many models it has.

    Logarithms of the mean probabilities are divided by the temperature.
    """

    def __init__(self, members: Sequence[Sequence[NodeClassifier]]) -> None:
        super().__init__()
        if not members or not all(members):
            raise InputError("Ensemble", "members", "at least one model each", got="none", verb="have")
        self.members = nn.ModuleList(nn.ModuleList(models) for models in members)

    @property
    def models(self) -> list[list[NodeClassifier]]:
        return [list(cast("Iterable[NodeClassifier]", member)) for member in self.members]

    @property
    def config(self) -> dict[str, Any]:
        """The sizes, which all models share."""
        first = self.models[0][0].config
        return {name: first[name] for name in ("in_channels", "out_channels")}

    @property
    def bound_to_nodes(self) -> bool:
        return any(model.bound_to_nodes for member in self.models for model in member)

    def predict(self, data: GraphData) -> Prediction:
        """Each model prepares the graph further in its own way, where its features are transformed."""
        data = data if self.preparation is None else self.preparation.apply(data)
        every = [[model.predict(data).probabilities.double() for model in member] for member in self.models]
        return self.of_probabilities(averaged([averaged(member) for member in every]))

    def of_probabilities(self, probabilities: Tensor) -> Prediction:
        """Temperature and threshold, applied to N x C mean probabilities."""
        return Prediction.of_answers([probabilities.double().clamp(min=1e-300).log()], self.threshold, self.temperature)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """Logarithms of mean probabilities for features as the models take them: they must be prepared alike."""
        inputs = x, edge_index, edge_weight
        every = [averaged([logits_of(model(*inputs)).softmax(dim=1) for model in member]) for member in self.models]
        return averaged(every).log()


def averaged(parts: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(parts)).mean(dim=0)


def save_ensemble(ensemble: Ensemble, folder: Path, facts: dict[str, Any] | None = None) -> None:
    """Write it into a new folder; the caller puts that in its place. ``facts``: JSON-ready notes."""
    names = []
    for m, models in enumerate(ensemble.models):
        names.append([f"member-{m}/model-{n}" for n in range(len(models))])
        for name, model in zip(names[-1], models, strict=True):
            save(model.model if isinstance(model, OnGraph) else model, folder / name)
    parts = [part.tensors() for part in (ensemble.seen, ensemble.label_sets) if part is not None]
    nodes = safetensors.torch.save({name: tensor for part in parts for name, tensor in part.items()}) if parts else b""
    (folder / _NODES).write_bytes(nodes)
    content = {
        "format": FORMAT,
        "members": names,
        "nodes": hashlib.sha256(nodes).hexdigest(),
        "threshold": ensemble.threshold,
        "temperature": ensemble.temperature,
        "preparation": None if ensemble.preparation is None else ensemble.preparation.to_json(),
        "facts": facts or {},
    }
    (folder / FILE).write_text(json.dumps(content, indent=2, sort_keys=True, allow_nan=False), encoding="utf-8")


def load_ensemble(folder: str | os.PathLike[str]) -> Ensemble:
    """In evaluation mode. A folder that is damaged, edited or foreign is an error."""
    path = Path(folder)
    content = read_predictor(path)
    ensemble = Ensemble([[_model(path, name) for name in names] for names in content["members"]])
    for name, low, high in (("threshold", 0.0, 1.0), ("temperature", 1e-6, 1e6)):
        if content[name] is not None:
            setattr(ensemble, name, real("load", f"{name} in {FILE}", content[name], low, high))
    nodes = _nodes(path, content["nodes"])
    ensemble.seen, ensemble.label_sets = SeenNodes.from_tensors(nodes), LabelSets.from_tensors(nodes)
    if content["preparation"] is not None:
        ensemble.preparation = preparation_of(content["preparation"])
    return ensemble.eval()


def read_predictor(folder: Path) -> dict[str, Any]:
    """What ``predictor.json`` says, checked."""
    path = folder / FILE
    content = read_document("load", path)
    found = content.get("format") if isinstance(content, dict) else type(content).__name__
    if found != FORMAT:
        raise InputError("load", f"{str(path)!r}", f"of the format {FORMAT!r}", found)
    number, table = (int, float, type(None)), (dict, type(None))
    schema: Mapping[str, type | tuple[type, ...]] = {
        "format": str,
        "members": list,
        "nodes": str,
        "threshold": number,
        "temperature": number,
    }
    checked = check_fields("load", f"{str(path)!r}", content, {**schema, "preparation": table, "facts": dict})
    for names in checked["members"]:
        for name in names if isinstance(names, list) and names else [None]:
            if not isinstance(name, str) or _MODEL.fullmatch(name) is None:
                raise InputError("load", f"members in {str(path)!r}", "lists of names like member-0/model-0", name)
    return checked


def _model(folder: Path, name: str) -> NodeClassifier:
    model = load(folder / name)
    if isinstance(model, OnBases):
        return OnGraph(model)
    if not isinstance(model, NodeClassifier) or isinstance(model, Ensemble):
        raise InputError("load", f"{name!r} in {str(folder)!r}", "a model on a graph", type(model).__name__)
    return model


def _nodes(folder: Path, digest: str) -> dict[str, Tensor]:
    path = folder / _NODES
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != digest:
        raise InputError("load", f"{str(path)!r}", f"the checksum in {FILE}; it is truncated or was edited", verb="match")
    try:
        return safetensors.torch.load(content) if content else {}
    except (SafetensorError, KeyError) as error:
        raise InputError("load", f"{str(path)!r}", "a safetensors file", reason=str(error)) from None
