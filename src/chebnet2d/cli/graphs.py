"""From a command's arguments to a graph, and from a model's answer to a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d._checks import InputError
from chebnet2d.models import NodeClassifier


def load_graph(
    name: str, root: Path | None, *, edges: Path | None = None, features: str | None = None, labels: Path | None = None
) -> Any:
    """A dataset of the catalogue by name, or the user's own graph from a path or from single files."""
    from chebnet2d.data import files

    if edges is not None or features is not None or labels is not None:
        return files.read_graph(None, edges=edges, features=features, labels=labels)
    if files.is_graph_path(name):
        return files.read_graph(name)
    return datasets.load(name, root=root)


def num_classes_of(data: Any) -> int:
    labels = data.y
    if labels is None or not bool((labels >= 0).any()):
        raise InputError("train: the graph must have labels for some nodes, got none.")
    return max(int(labels.max()) + 1, int(data.get("num_classes") or 0))


def write_predictions(model: NodeClassifier, data: Any, class_names: Sequence[str] | None, out: Path) -> int:
    """node, label, probability of each class: CSV or Parquet, by the ending. Written beside and renamed: whole or not at all."""
    import os

    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"predict: --out must end in .csv or .parquet, got {str(out)!r}.")
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
