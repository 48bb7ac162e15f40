"""From a command's arguments to a graph and a recipe, and from a model's answer to a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d._checks import InputError, one_of
from chebnet2d.data import files
from chebnet2d.models import NodeClassifier
from chebnet2d.study import Preset, load_preset
from chebnet2d.training import Settings


def read_data(name: str, root: Path | None, own: Mapping[str, Any]) -> Any:
    """A dataset of the catalogue by name, or the user's own graph from a path or from single files."""
    if not name and own["edges"] is None:
        raise InputError("predict: the graph must be given by a name, a path or --edges, got none of them.")
    known = name.lower() in datasets.CATALOGUE  # a dataset's name means the dataset, also beside a folder of that name
    if own["edges"] is not None:
        data = files.read_graph(None, **own)
    elif not known and files.is_graph_path(name):
        data = files.read_graph(name, **own)
    else:
        given = [flag for flag in ("features", "labels") if own[flag] is not None]
        if given:
            raise InputError(f"train: --{given[0]} must come with --edges or a path, got it with the dataset {name!r}.")
        data = datasets.load(name, root=root)
    return data


def check_labels(data: Any) -> None:
    """A classifier needs two classes to tell apart."""
    found = data.y[data.y >= 0].unique() if data.get("y") is not None else ()
    if len(found) < 2:
        got = "no labels" if len(found) == 0 else "one class only"
        raise InputError(
            f"train: the graph must have labels of at least two classes, got {got}. Give them by --labels or a label column."
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
        raise InputError(f"predict: the features must be the {len(names)} columns that the model was trained on, got {got}.")
    import torch

    order = torch.tensor([list(own).index(name) for name in names])
    data = data.clone()
    data.x = data.x.index_select(1, order) if data.x.layout == torch.strided else data.x.to_dense().index_select(1, order)
    data.feature_names = list(names)
    return data


def check_out(out: Path) -> None:
    """Before the work: whether the file can be written."""
    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"predict: --out must end in .csv or .parquet, got {str(out)!r}.")
    if out.is_dir():
        raise InputError(f"predict: --out must be a file, got the folder {str(out)!r}.")


def recipe_of(
    method: str,
    dataset: str,
    preset: str | None,
    model: Mapping[str, Any],
    settings: Mapping[str, Any],
    transform: str | None,
) -> Preset:
    """A preset, or none, with what the command line says on top. A wrong number is told here, before anything is read."""
    if preset is None:
        base = Preset(method, dataset, "defaults of the class")
    else:
        base = load_preset(method, dataset, None if preset == "shipped" else Path(preset))
    chosen = one_of("train", "transform", transform or base.transform, ("none", *datasets.TRANSFORMS))
    given = {name: value for name, value in model.items() if value is not None}
    numbers = {**base.settings, **{name: value for name, value in settings.items() if value is not None}}
    Settings.of(**numbers)
    return Preset(method, dataset, base.origin, chosen, {**base.model, **given}, numbers)


def write_predictions(model: NodeClassifier, data: Any, class_names: Sequence[str] | None, out: Path) -> int:
    """node, label, probability of each class: CSV or Parquet, by the ending. Written beside and renamed: whole or not at all."""
    import os

    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    check_out(out)
    expected = model.config["in_channels"]
    if data.num_features != expected:
        raise InputError(
            f"predict: the graph must have {expected} features, as the model was trained on, got {data.num_features}."
        )
    prediction = model.predict(data)
    probabilities = prediction.probabilities.numpy()
    names = [str(name) for name in class_names] if class_names else [str(c) for c in range(probabilities.shape[1])]
    node_ids = data.get("node_ids")
    columns: dict[str, Any] = {
        "node": pa.array(list(node_ids) if node_ids is not None else range(data.num_nodes)),
        "label": pa.array([names[label] for label in prediction.labels.tolist()]),
    }
    for c, name in enumerate(names):
        columns[f"probability_{name}"] = pa.array(probabilities[:, c])
    table = pa.table(columns)
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        if out.suffix == ".csv":
            pyarrow.csv.write_csv(table, temporary)
        else:
            pyarrow.parquet.write_table(table, temporary)
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)
    return int(table.num_rows)
