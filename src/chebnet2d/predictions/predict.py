"""``predict``: from a model and a graph to a table."""

import os
from pathlib import Path
from typing import Any

from chebnet2d.data.any_graph import is_own_graph, load_graph
from chebnet2d.models import NodeClassifier, OnBases, load
from chebnet2d.predictions.answers import Answers
from chebnet2d.preparation import Notes, Preparation


def predict(
    model: NodeClassifier | OnBases | str | os.PathLike[str], source: Any, *, coverage: float | None = None, **reading: Any
) -> Any:
    """Labels and probabilities of all nodes as an Arrow table, with the ids of the graph: ``.to_pandas()`` makes a frame of it.

    Args:
        model: a trained model, or the folder of a saved one.
        source: a ``Data``; the path of a graph of your own, which is read as the one that the model was trained on; or ``Bases``.
        coverage: such as 0.9: a column ``label_set`` of labels, among which the true one is that often (docs/auto.md).
        reading: arguments of ``read_graph``, for a path.

    ``part`` says in which part of the split a node was at the training: "train", "val", "test", nothing, or "new" for a
    node that was not in that graph. ``given_label`` is the label that the graph has, where it has labels.

    From two frames to a frame:

    >>> import pandas as pd, chebnet2d
    >>> people = pd.DataFrame({"name": range(40), "age": [20, 50] * 20, "city": ["Graz", None] * 20, "label": ["a", "b"] * 20})
    >>> friends = pd.DataFrame({"a": range(38), "b": range(2, 40)})
    >>> data = chebnet2d.data.from_tables(people, friends, id="name")
    >>> predictor = chebnet2d.NodePredictor(methods=["logistic"], folds=2).fit(data, budget=1)
    >>> frame = chebnet2d.predict(predictor.ensemble, data).to_pandas()
    >>> frame.columns.tolist(), frame["label"].tolist()[-2:]
    (['node', 'label', 'given_label', 'part', 'probability_a', 'probability_b'], ['a', 'b'])
    """
    found = model if isinstance(model, NodeClassifier | OnBases) else load(model)
    if isinstance(source, str | os.PathLike):
        source = read_for(found, os.fspath(source), **reading)
    return predicted(found, source, coverage)[0]


def predicted(model: NodeClassifier | OnBases, source: Any, coverage: float | None = None) -> tuple[Any, Notes]:
    """The table, and what the graph has in other ways than the one that the model was trained on."""
    import pyarrow as pa

    answers = Answers(model, source, coverage=coverage)
    return pa.Table.from_batches(answers.batches(), answers.schema).replace_schema_metadata(None), answers.notes


def read_for(model: NodeClassifier | OnBases, name: str, root: Path | None = None, **reading: Any) -> Any:
    """A graph by name or path, read as the one that the model was trained on; what names labels and parts may be absent."""
    if not name or is_own_graph(name):
        known = model.preparation or Preparation()
        plain = {"preprocess": "none"} if known.encoding is None else {}
        reading = {"lenient": True, **plain, **known.read_options, **reading}
    return load_graph(name, root, **reading)
