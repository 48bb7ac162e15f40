"""From a command's arguments to a graph and a recipe, and from a model's answer to a file."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d._checks import InputError, one_of
from chebnet2d._targets import check_target, written_whole
from chebnet2d.cli.own_graph import flag_of
from chebnet2d.data import own_graph as files
from chebnet2d.data.catalogue import known_name
from chebnet2d.data.own_graph.assemble import MADE_FEATURES
from chebnet2d.data.own_graph.folder import EDGES, FEATURES, LABELS
from chebnet2d.models import NodeClassifier, find_model
from chebnet2d.recipes import NO_TRANSFORM, Recipe, load_recipe, shipped_recipes
from chebnet2d.training import Settings


def read_data(command: str, name: str, root: Path | None, own: Mapping[str, Any]) -> Any:
    """A dataset of the catalogue by name, or the user's own graph from a path or from single files. ``own``: what was typed."""
    if not name and "edges" not in own:
        raise InputError(command, "the graph", "given by a name, a path or --edges", got="none of them")
    if name and "edges" in own:
        raise InputError(command, "--edges", "the only graph", got=f"{name!r} besides")
    if not name:
        return files.read_graph(None, **own)
    if is_own(name):
        return files.read_graph(name, **own)
    if own:
        flag = flag_of(next(iter(own)))
        raise InputError(command, flag, "with --edges or a path", got=f"it with the dataset {name!r}", verb="come")
    if known_name(name) is None and Path(name).is_dir():
        raise InputError(command, f"the folder {name!r}", " or ".join(EDGES), got="none of them", verb="have")
    return datasets.load(name, root=root)


def is_own(name: str) -> bool:
    """Whether it means a graph of the user's own. A dataset's name means the dataset, also beside a folder of that name."""
    return known_name(name) is None and files.is_graph_path(name)


def reading_of(own: Mapping[str, Any]) -> dict[str, Any]:
    """How files were read, without which ones: holds for other graphs of the kind too."""
    made = own.get("features") in MADE_FEATURES
    return {name: value for name, value in own.items() if name not in ("edges", "labels") and (name != "features" or made)}


def describe_graph(data: Any) -> str:
    """Nodes, labelled ones and edges: what is wrong with a file is often seen here first."""
    edges = int(data.edge_index.shape[1])
    labelled = int((data.y >= 0).sum())
    some = "" if labelled == data.num_nodes else f" ({labelled} labelled)"
    return f"{data.num_nodes} nodes{some}, {edges} listed edges" + (": the graph is empty" if edges == 0 else "")


def check_labels(command: str, data: Any) -> None:
    """A classifier needs two classes to tell apart."""
    found = data.y[data.y >= 0].unique() if data.get("y") is not None else ()
    if len(found) < 2:
        got = "no labels" if len(found) == 0 else "one class only"
        raise InputError(
            command,
            "the graph",
            "labels of at least two classes",
            got=got,
            hint="Give them by --labels or a label column.",
            verb="have",
        )


def match_features(data: Any, names: Sequence[str] | None) -> Any:
    """Columns in the order that the model was trained on, where both have names; a missing one is an error."""
    own = data.get("feature_names")
    if names is None or own is None or list(own) == list(names):
        return data
    missing = [name for name in names if name not in own]
    extra = [name for name in own if name not in names]
    if missing or extra:
        got = f"no {missing[0]!r}" if missing else f"{extra[0]!r} besides"
        raise InputError("predict", "the features", f"the {len(names)} columns that the model was trained on", got=got)
    import torch

    order = torch.tensor([list(own).index(name) for name in names])
    data = data.clone()
    data.x = data.x.index_select(1, order) if data.x.layout == torch.strided else data.x.to_dense().index_select(1, order)
    data.feature_names = list(names)
    return data


def check_out(out: Path, name: str, own: Mapping[str, Any]) -> None:
    """Before the work: whether the file can be written, and is none of those that ``read_data`` reads."""
    if out.suffix not in (".csv", ".parquet"):
        raise InputError("predict", "--out", "in .csv or .parquet", str(out), verb="end")
    read = [Path(own[part]) for part in ("edges", "features", "labels") if part in own]
    if name and is_own(name):
        read += [Path(name), *(Path(name) / file for file in (*EDGES, *FEATURES, *LABELS))]
    check_target("predict", "--out", out, keep=read)


def recipe_of(
    method: str,
    dataset: str,
    preset: str | None,
    model: Mapping[str, Any],
    settings: Mapping[str, Any],
    transform: str | None,
) -> Recipe:
    """A preset, or none, with what the command line says on top. A wrong number is told here, before anything is read."""
    if preset is None:
        base = Recipe(method, dataset=dataset)
    else:
        base = load_recipe(method, dataset, None if preset == "shipped" else Path(preset))
    chosen = one_of("train", "--transform", transform or base.transform, (NO_TRANSFORM, *datasets.TRANSFORMS))
    given = {name: value for name, value in model.items() if value is not None}
    cls = find_model(method)
    for name in given:
        if name not in inspect.signature(cls).parameters:
            flag = "--" + name.replace("_", "-").removesuffix("-channels")
            raise InputError("train", flag, "an argument of the method", got=f"it with {method!r}, which has none")
    for name in ("filter_lr", "filter_weight_decay"):
        if settings.get(name) is not None and "filter" not in cls.groups:
            flag = "--" + name.replace("_", "-")
            raise InputError("train", flag, "of a method with a learned filter", got=f"it with {method!r}")
    numbers = {**base.settings, **{name: value for name, value in settings.items() if value is not None}}
    Settings.of(**numbers)
    return replace(base, dataset=dataset, transform=chosen, model={**base.model, **given}, settings=numbers)


def has_settings_for(method: str, dataset: str) -> bool:
    """Whether the package has settings of the method that were chosen for this dataset. A folder called "search" is none."""
    return known_name(dataset) in shipped_recipes(method)


def write_predictions(model: NodeClassifier, data: Any, class_names: Sequence[str] | None, out: Path) -> int:
    """node, label, probability of each class: CSV or Parquet, by the ending. Written beside and renamed: whole or not at all."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    expected = model.config["in_channels"]
    if data.num_features != expected:
        raise InputError(
            "predict", "the graph", f"{expected} features, as the model was trained on", got=str(data.num_features), verb="have"
        )
    prediction = model.predict(data)
    probabilities = prediction.probabilities.numpy()
    names = [str(name) for name in class_names] if class_names else [str(c) for c in range(probabilities.shape[1])]
    node_ids = data.get("node_ids")
    columns: dict[str, Any] = {
        "node": pa.array(list(node_ids) if node_ids is not None else range(data.num_nodes)),
        "label": pa.array([names[label] for label in prediction.labels.tolist()]),
    }
    given = data.get("y")
    if given is not None:
        own = data.get("class_names")
        words = [str(word) for word in own] if own is not None else names
        columns["given_label"] = pa.array([words[label] if 0 <= label < len(words) else None for label in given.tolist()])
    for c, name in enumerate(names):
        columns[f"probability_{name}"] = pa.array(probabilities[:, c])
    table = pa.table(columns)
    with written_whole(out) as temporary:
        if out.suffix == ".csv":
            pyarrow.csv.write_csv(table, temporary)
        else:
            pyarrow.parquet.write_table(table, temporary)
    return int(table.num_rows)
