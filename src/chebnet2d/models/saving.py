"""Saved models: weights in safetensors, the rest in JSON. Loading runs no code from the files.

A model is a folder with ``config.json`` (format, method, constructor arguments, facts about the training; for a model on bases
also its reading) and ``weights-<digest>.safetensors``, which the configuration names. The weights are written first and the
configuration is put in its place by one rename: whenever a save is killed, the folder holds the old model or the new one, whole.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import nn

from chebnet2d._checks import InputError, one_of
from chebnet2d._targets import written_whole
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.on_bases import READINGS, OnBases
from chebnet2d.models.registry import MODELS, find_model, known_model, model_name

FORMAT = "chebnet2d-model-1"
_OURS = re.compile(r"weights-[0-9a-f]{16}\.safetensors|\.(config\.json|weights-[0-9a-f]{16}\.safetensors)\.\w+\.tmp")


def save(model: nn.Module, path: str | os.PathLike[str], *, facts: dict[str, Any] | None = None) -> Path:
    """Write a model to the folder ``path``. ``facts``: JSON-ready notes that ``read_facts`` gives back.

    >>> import chebnet2d, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = save(chebnet2d.ChebNet2D(4, 2), folder)
    >>> type(load(folder)).__name__
    'ChebNet2D'
    """
    if not isinstance(model, NodeClassifier | OnBases):
        raise InputError("save", "model", "a model of this library", type(model).__name__)
    folder = check_model_folder("save", "path", Path(path))
    before = _weights_named_by(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = safetensors.torch.save({name: value.contiguous() for name, value in model.state_dict().items()})
    digest = hashlib.sha256(weights).hexdigest()
    name = f"weights-{digest[:16]}.safetensors"
    config = {
        "format": FORMAT,
        "model": model.method if isinstance(model, OnBases) else model_name(type(model)),
        **({"reading": model.reading} if isinstance(model, OnBases) else {}),
        "arguments": model.config,
        "weights": name,
        "sha256": digest,
        "facts": facts or {},
    }
    text = json.dumps(config, indent=2, sort_keys=True, allow_nan=False)
    for path, content in ((folder / name, weights), (folder / "config.json", text.encode())):
        with written_whole(path) as temporary:
            temporary.write_bytes(content)
    if before not in (None, name):
        (folder / str(before)).unlink(missing_ok=True)
    return folder


def check_model_folder(owner: str, argument: str, folder: Path) -> Path:
    """A folder that a model may be written to: new, empty, with a model of ours, or with what a killed save left."""
    if folder.exists() and not folder.is_dir():
        raise InputError(owner, argument, "a folder or new", got=f"the file {str(folder)!r}")
    found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    ours = all(_OURS.fullmatch(name) for name in found) or _weights_named_by(folder) is not None
    if not ours:
        rule = "a new or empty folder or one with a model of chebnet2d"
        raise InputError(owner, argument, rule, got=f"{str(folder)!r} with {min(found)!r}")
    above = next((parent for parent in folder.absolute().parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise InputError(owner, argument, "in a folder", got=f"{str(folder)!r} below the file {above.name!r}")
    return folder


def _weights_named_by(folder: Path) -> str | None:
    """The weights file of the model of ours in the folder, where there is one."""
    try:
        return Path(str(_read_config(folder)["weights"])).name
    except InputError:
        return None


def load(path: str | os.PathLike[str], method: str | type[NodeClassifier] | None = None) -> NodeClassifier | OnBases:
    """Read a model written by ``save``; in evaluation mode. A file that is damaged, edited or foreign is an error.

    ``method``: the class of the model, or its spelling, where it is no method of this package. A file may name such a class, but
    only the caller can have code imported.
    """
    folder = Path(path)
    config = _read_config(folder)
    model_class = _class_of(config, method)
    weights_path = folder / str(config["weights"])
    if weights_path.parent != folder or not weights_path.is_file():
        rule = "the weights file that its config.json names"
        raise InputError("load", f"{str(folder)!r}", rule, got=f"no {weights_path.name!r}", verb="hold")
    content = weights_path.read_bytes()
    if hashlib.sha256(content).hexdigest() != config["sha256"]:
        rule = "the checksum in config.json; it is truncated or was edited"
        raise InputError("load", f"{str(weights_path)!r}", rule, verb="match")
    try:
        state = safetensors.torch.load(content)
    except SafetensorError as error:
        raise InputError("load", f"{str(weights_path)!r}", "a safetensors file", reason=str(error)) from None
    try:
        model = model_class(**config["arguments"])
    except TypeError as error:
        raise InputError("load", "config.json", f"the arguments of {config['model']}", reason=str(error), verb="hold") from None
    if state:
        model.to(next(iter(state.values())).dtype)
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise InputError("load", "the weights", "the model that config.json describes", reason=reason, verb="fit") from None
    return model.eval()


def read_facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The notes that were saved with a model."""
    facts: dict[str, Any] = _read_config(Path(path))["facts"]
    return facts


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
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError("load", f"{str(path)!r}", "JSON", reason=str(error)) from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        found = config.get("format") if isinstance(config, dict) else type(config).__name__
        raise InputError("load", f"{str(path)!r}", f"of the format {FORMAT!r}", found)
    kinds = {"model": str, "arguments": dict, "weights": str, "sha256": str, "facts": dict}
    for key, kind in kinds.items():
        if not isinstance(config.get(key), kind):
            raise InputError("load", f"{str(path)!r}", f"{key!r} of type {kind.__name__}", config.get(key), verb="have")
    return config
