"""predict: labels and probabilities of a graph's nodes by a saved model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("predict", order=20, resumes="The same command goes on from what is done.")
def predict(
    model: options.ModelFolder,
    out: Annotated[Path, typer.Option(help="File to write: .csv or .parquet.")],
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    coverage: Annotated[
        float | None,
        typer.Option(help="Also write sets of labels that hold the true one with this probability, such as 0.9."),
    ] = None,
    method: options.OutsideMethod = None,
    memory: options.Memory = None,
    force: options.Force = False,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Write the label and the class probabilities of every node, with your own ids and label names. A model that was trained on
    bases computes those of the graph in blocks, as far as there are none beside the model, or takes a folder of bases instead.

    Example: chebnet2d predict my-model digits --out predictions.csv
    """
    from contextlib import ExitStack

    from chebnet2d._sizes import parse_bytes
    from chebnet2d.bases import Bases
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.cli.progress import precompute_step, progress_bar
    from chebnet2d.data.any_graph import files_of, way_of_reading
    from chebnet2d.models import OnBases, load
    from chebnet2d.models.saving import BASES_FOLDER
    from chebnet2d.predictions import Answers, bases_for, check_predictions_file, guarantee, read_for, write_predictions
    from chebnet2d.preparation import Notes, Preparation

    reading = options.typed(graph)
    limit = None if memory is None else parse_bytes(memory, "predict")
    check_predictions_file(out, keep=files_of(dataset, reading), force=force)
    loaded = load(model, method=method)
    notes, lines = Notes(), ()
    told: list[str] = []  # how there came to be bases
    with ExitStack() as stack:
        if isinstance(loaded, OnBases) and (Path(dataset) / "manifest.json").is_file():
            answers = Answers(loaded, Bases.open(dataset), coverage=coverage)
        else:
            way = way_of_reading("predict", limit, dataset, reading, chunks=isinstance(loaded, OnBases))
            source: Any = read_for(loaded, dataset, data_root, **reading, **way)
            source, notes = (loaded.preparation or Preparation()).applied(source)
            lines = tuple(source.get("notes") or ())
            found = None
            if isinstance(loaded, OnBases):
                report = stack.enter_context(progress_bar(precompute_step, "TimeRemainingColumn", quiet=json, lines=True))
                beside = out.with_name(f".{out.name}.bases")
                known = model / BASES_FOLDER
                make = bases_for(loaded, source, known=known, out=beside, memory=limit, progress=report, tell=told.append)
                found = stack.enter_context(make)
            answers = Answers(loaded, source, bases=found, coverage=coverage)
        rows = write_predictions(answers, out, force=force)
    seen = answers.seen_lines()
    for line in (*lines, *told, *notes.lines(), *seen):
        say(line, quiet=json)
    promise = None if coverage is None else guarantee(loaded, coverage, moved=bool(seen or notes.drift))
    if promise is not None:
        say(promise, quiet=json)
    say(f"{rows} predictions written to {out}", quiet=json)
    if json:
        facts = {"nodes": rows, "out": str(out), "features": notes.to_json(), "coverage": coverage, "guarantee": promise}
        print_json({**facts, "bases": told[0] if told else None})
