"""predict: labels and probabilities of a graph's nodes by a saved model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("predict", order=20)
def predict(
    model: options.ModelFolder,
    out: Annotated[Path, typer.Option(help="File to write: .csv or .parquet.")],
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    method: options.OutsideMethod = None,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Write the label and the class probabilities of every node, with your own ids and label names. A model on bases takes the
    folder of its bases, or of others of the kind.

    Example: chebnet2d predict my-model digits --out predictions.csv
    """
    from chebnet2d.bases import Bases
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.data.any_graph import files_of, is_own_graph, load_graph
    from chebnet2d.data.preparation import Preparation
    from chebnet2d.models import OnBases, load, read_facts
    from chebnet2d.predictions import check_predictions_file, write_predictions

    reading = options.typed(graph)
    check_predictions_file(out, keep=files_of(dataset, reading))
    loaded, preparation = load(model, method=method), Preparation.from_json(read_facts(model))
    if isinstance(loaded, OnBases):
        source: Any = Bases.open(dataset)
    else:
        if not dataset or is_own_graph(dataset):
            reading = {**preparation.read_options, **reading}
        source = preparation.apply(load_graph(dataset, data_root, **reading))
    rows = write_predictions(loaded, source, out, preparation.class_names)
    say(f"{rows} predictions written to {out}", quiet=json)
    if json:
        print_json({"nodes": rows, "out": str(out)})
