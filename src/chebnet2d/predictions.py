"""A model's answer as a table: node, label, given label, and the probability of each class."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import check_target, written_whole
from chebnet2d.models import NodeClassifier, OnBases

ENDINGS = (".csv", ".parquet")


def check_predictions_file(out: Path, keep: Sequence[Path] = ()) -> None:
    """Before the work: whether the file can be written. ``keep``: files that are read, which it must not replace."""
    if out.suffix not in ENDINGS:
        raise InputError("predict", "out", f"in {' or '.join(ENDINGS)}", str(out), verb="end")
    check_target("predict", "out", out, keep=keep)


def write_predictions(model: NodeClassifier | OnBases, source: Any, out: Path, class_names: Sequence[str] | None = None) -> int:
    """Predict every node and write CSV or Parquet, by the ending. Returns the number of rows.

    ``source``: a prepared graph, or ``Bases`` for a model on bases. Nodes have their own ids and labels their own words where the
    graph or ``class_names`` have them.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    check_predictions_file(out)
    nodes, given, own = _facts(model, source)
    prediction = model.predict(source)
    probabilities = prediction.probabilities.numpy()
    names = [str(name) for name in class_names or range(probabilities.shape[1])]
    columns: dict[str, Any] = {"node": pa.array(nodes), "label": pa.array([names[label] for label in prediction.labels.tolist()])}
    if given is not None:
        words = [str(word) for word in own or names]
        columns["given_label"] = pa.array([words[label] if 0 <= label < len(words) else None for label in given.tolist()])
    columns |= {f"probability_{name}": pa.array(probabilities[:, c]) for c, name in enumerate(names)}
    table = pa.table(columns)
    with written_whole(out) as temporary:
        if out.suffix == ".csv":
            pyarrow.csv.write_csv(table, temporary)
        else:
            pyarrow.parquet.write_table(table, temporary)
    return int(table.num_rows)


def _facts(model: NodeClassifier | OnBases, source: Any) -> tuple[Any, Any, Any]:
    """Ids of the nodes, given labels, and words for these."""
    if isinstance(model, OnBases):
        return source.nodes.tolist(), source.labels, None
    expected = model.config["in_channels"]
    if source.num_features != expected:
        rule = f"{expected} features, as the model was trained on"
        raise InputError("predict", "the graph", rule, got=str(source.num_features), verb="have")
    ids = source.get("node_ids")
    return (range(source.num_nodes) if ids is None else list(ids)), source.get("y"), source.get("class_names")
