"""Saved models: weights in safetensors, the rest in JSON. Loading runs no code from the files.

A model is a folder as model hubs lay it out: ``model.safetensors``, ``config.json`` (format, method, constructor arguments, facts
about the training; for a model on bases also its reading) and ``README.md``, a card for people. The weights carry the
configuration too, and are put in their place by one rename: whenever a save is killed, the folder holds the old model or the new
one, whole. ``config.json`` has the checksum of its weights; where that is of another save, the configuration within the weights
counts.

Up to version 0.1 (``chebnet2d-model-1``) the weights were ``weights-<digest>.safetensors``, by the name in the configuration.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import safetensors.torch
from safetensors import SafetensorError
from torch import nn

from chebnet2d._checks import InputError, one_of, real
from chebnet2d._documents import read_document
from chebnet2d._json import finite
from chebnet2d._targets import check_folder, is_ours, lock_handle, written_whole
from chebnet2d.models import card, weights_file
from chebnet2d.models.bounded import build
from chebnet2d.models.label_sets import LabelSets
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.on_bases import READINGS, OnBases
from chebnet2d.models.registry import MODELS, find_model, known_model, model_name
from chebnet2d.models.seen_nodes import SeenNodes
from chebnet2d.preparation import Preparation

FORMAT = "chebnet2d-model-2"
_FORMATS = ("chebnet2d-model-1", FORMAT)
_NAME = "model.safetensors"
_CARD = "README.md"
_OLD = re.compile(r"weights-[0-9a-f]{16}\.safetensors")
_LITTER = re.compile(rf"\.(config\.json|README\.md|(model|training)\.safetensors|{_OLD.pattern})\.\w+\.tmp")
BASES_FOLDER = "bases"
"""Of a model that was trained on bases, where they may lie: beside its files."""
CHECKPOINT = "training.safetensors"
"""A training that is not finished, beside the files of the model that it will be."""
_MARKS = {_NAME: weights_file.MARK, CHECKPOINT: weights_file.MARK, _CARD: card.MARK}


def save(model: nn.Module, path: str | os.PathLike[str], *, facts: dict[str, Any] | None = None) -> Path:
    """Write a model to the folder ``path``. ``facts``: JSON-ready notes that ``read_facts`` gives back and that the model card
    (``README.md``) shows; numbers that are none (NaN, infinite) come back as None.

    >>> import chebnet2d, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = save(chebnet2d.ChebNet2D(4, 2), folder)
    >>> type(load(folder)).__name__
    'ChebNet2D'
    """
    if not isinstance(model, NodeClassifier | OnBases):
        raise InputError("save", "model", "a model of this library", type(model).__name__)
    folder = check_model_folder("save", "path", Path(path))
    seen = {} if model.seen is None else model.seen.tensors()
    seen |= {} if model.label_sets is None else model.label_sets.tensors()
    config = {
        "format": FORMAT,
        "model": model.method if isinstance(model, OnBases) else model_name(type(model)),
        **({"reading": model.reading} if isinstance(model, OnBases) else {}),
        "arguments": model.config,
        "weights": _NAME,
        "facts": finite(facts or {}),
        "threshold": model.threshold,
        "temperature": model.temperature,
        "preparation": None if model.preparation is None else model.preparation.to_json(),
    }
    weights = weights_file.pack({**model.state_dict(), **seen}, config)
    text = json.dumps(config | {"sha256": hashlib.sha256(weights).hexdigest()}, indent=2, sort_keys=True, allow_nan=False)
    files = {_NAME: weights, _CARD: card.model_card(config).encode(), "config.json": text.encode()}
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        before = _weights_named_by(folder)
        if (folder / _CARD).exists() and not _is_ours(folder / _CARD):
            del files[_CARD]
        for name, content in files.items():
            with written_whole(folder / name) as temporary:
                temporary.write_bytes(content)
        for found in folder.iterdir():  # what our old config names, and what saves that were killed left
            if found.name == before != _NAME or _LITTER.fullmatch(found.name):
                found.unlink(missing_ok=True)
    return folder


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Saves into one folder come one after the other, so that all files are of one of them.

    The lock is on the folder itself. A system that cannot open folders (Windows) has none: the configuration may then be that of
    the other save, until the next, and the one within the weights counts.
    """
    if os.name != "posix":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        lock_handle(handle, wait=True)
        yield
    finally:
        os.close(handle)


def check_model_folder(owner: str, argument: str, folder: Path) -> Path:
    """A folder that a model may be written to: new, empty, with a model of ours, or with what a killed save left."""
    if folder.exists() and not folder.is_dir():
        raise InputError(owner, argument, "a folder or new", got=f"the file {str(folder)!r}")
    found = list(folder.iterdir()) if folder.is_dir() else []
    named = _weights_named_by(folder)
    ours = all(_is_ours(path) for path in found if path.name == _NAME or named is None) or named == _NAME
    if not ours:
        rule = "a new or empty folder or one with a model of chebnet2d"
        raise InputError(owner, argument, rule, got=f"{str(folder)!r} with {min(path.name for path in found)!r}")
    above = next((parent for parent in folder.absolute().parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise InputError(owner, argument, "in a folder", got=f"{str(folder)!r} below the file {above.name!r}")
    check_folder(owner, argument, folder)
    return folder


def _is_ours(path: Path) -> bool:
    """A file that a save wrote or was writing, besides the configuration."""
    if path.name == BASES_FOLDER:
        return path.is_dir()
    if path.name in _MARKS:
        return path.is_file() and is_ours(path, [_MARKS[path.name]])
    return _OLD.fullmatch(path.name) is not None or _LITTER.fullmatch(path.name) is not None


def _weights_named_by(folder: Path) -> str | None:
    """The weights file of the model of ours in the folder, where there is one."""
    try:
        return Path(str(_read_config(folder)["weights"])).name
    except InputError:
        return None


def load(path: str | os.PathLike[str], method: str | type[NodeClassifier] | None = None) -> NodeClassifier | OnBases:
    """Read a model written by ``save``, or by a ``NodePredictor``; in evaluation mode.

    A file that is damaged, edited or foreign is an error.

    ``method``: the class of the model, or its spelling, where it is no method of this package. A file may name such a class, but
    only the caller can have code imported.
    """
    folder = Path(path)
    if not (folder / "config.json").is_file() and (folder / "predictor.json").is_file():
        from chebnet2d.models.ensemble import load_ensemble  # which loads its models by this function

        return load_ensemble(folder)
    config, content = _read_whole(folder)
    model_class = _class_of(config, method)
    weights_path = folder / config["weights"]
    try:
        state = safetensors.torch.load(content)
    except (SafetensorError, KeyError) as error:  # KeyError: a type of number that torch does not have
        raise InputError("load", f"{str(weights_path)!r}", "a safetensors file", reason=str(error)) from None
    seen, label_sets = SeenNodes.from_tensors(state), LabelSets.from_tensors(state)
    model = cast("NodeClassifier | OnBases", build(model_class, config["model"], config["arguments"], state))
    try:
        dtype = next((value.dtype for value in state.values() if value.is_floating_point()), None)
        if dtype is not None:
            model.to(dtype)
        model.load_state_dict(state)
    except (RuntimeError, TypeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise InputError("load", "the weights", "the model that config.json describes", reason=reason, verb="fit") from None
    if config.get("threshold") is not None:
        model.threshold = real("load", "the threshold in config.json", config["threshold"], 0, 1)
    if config.get("temperature") is not None:
        model.temperature = real("load", "the temperature in config.json", config["temperature"], 1e-6, 1e6)
    model.seen, model.label_sets = seen, label_sets
    if config.get("preparation") is not None:
        model.preparation = preparation_of(config["preparation"])
    return model.eval()


def preparation_of(facts: Any) -> Preparation:
    if not isinstance(facts, dict):
        raise InputError("load", "the preparation in config.json", "a table", facts)
    try:
        return Preparation.from_json(facts)
    except (TypeError, ValueError, KeyError) as error:
        raise InputError("load", "the preparation in config.json", "whole", reason=str(error)) from None


def read_facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The notes that were saved with a model."""
    facts: dict[str, Any] = _read_whole(Path(path))[0]["facts"]
    return facts


def _read_whole(folder: Path) -> tuple[dict[str, Any], bytes]:
    """The configuration, and the weights that it is of."""
    config = _read_config(folder)
    path = folder / config["weights"]
    if not path.is_file():
        rule = "the weights file that its config.json names"
        raise InputError("load", f"{str(folder)!r}", rule, got=f"no {path.name!r}", verb="hold")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() == config["sha256"]:
        return config, content
    within = weights_file.config_within(content)  # of a save that was killed before it wrote config.json
    if within is None or path.name != _NAME:
        rule = "the checksum in config.json; it is truncated or was edited"
        raise InputError("load", f"{str(path)!r}", rule, verb="match")
    return _checked(path, within | {"sha256": hashlib.sha256(content).hexdigest()}), content


def _class_of(config: dict[str, Any], method: str | type[NodeClassifier] | None) -> type[NodeClassifier] | type[OnBases]:
    text = config["model"]
    found = known_model(text) if method is None else find_model(method)
    if found is None and ":" not in text:
        one_of("load", "the method in config.json", text, tuple(MODELS))
    if found is None:
        hint = "Loading imports no code that a file names: pass the class, or a spelling of it that you trust."
        raise InputError("load", "method", f"given for the outside method {text!r}", got="None", hint=hint)
    if "reading" not in config:
        return found
    config["arguments"]["method"] = found
    return READINGS[one_of("load", "the reading in config.json", config["reading"], tuple(READINGS))]


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise InputError("load", "path", "a folder written by save", got=f"{str(folder)!r} without a config.json")
    return _checked(path, read_document("load", path))


def _checked(path: Path, config: Any) -> dict[str, Any]:
    """A configuration that has what it must have; ``path`` is where it was found."""
    if not isinstance(config, dict) or config.get("format") not in _FORMATS:
        found = config.get("format") if isinstance(config, dict) else type(config).__name__
        raise InputError("load", f"{str(path)!r}", f"of the format {FORMAT!r}", found)
    kinds = {"model": str, "arguments": dict, "weights": str, "sha256": str, "facts": dict}
    for key, kind in kinds.items():
        if not isinstance(config.get(key), kind):
            raise InputError("load", f"{str(path)!r}", f"{key!r} of type {kind.__name__}", config.get(key), verb="have")
    if config["weights"] != _NAME and _OLD.fullmatch(config["weights"]) is None:  # no path: a model is its folder
        rule = f"{_NAME}, or a name like weights-0123456789abcdef.safetensors"
        raise InputError("load", f"weights in {str(path)!r}", rule, config["weights"])
    return config
