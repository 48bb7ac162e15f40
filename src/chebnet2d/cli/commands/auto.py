"""auto: methods compared on one graph within a budget, and a predictor of the best few."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also

_PLACE = Path("predictor")
_SHORT = 60.0  # seconds of a budget that are too few for processes, which take some to start


@dataclass(frozen=True)
class AutoOptions:
    """Arguments of ``NodePredictor``."""

    methods: options.Methods = None
    split: Annotated[
        str | None,
        typer.Option(
            help="Kind of split that keeps test nodes away, as in train; none: all labels are used, and nothing is tested."
        ),
        Also("kind"),
    ] = None
    metric: options.Metric = None
    class_weight: options.ClassWeight = None
    inductive: Annotated[bool, typer.Option("--inductive", help="Only methods that can predict graphs with other nodes.")] = False
    folds: Annotated[int, typer.Option(help="Folds of the labelled nodes outside of test.")] = 5
    seed: Annotated[int, typer.Option(help="Seed of split, folds, settings and initial parameters.")] = 0


@command("auto", order=5, resumes="The same command goes on from there.")
def auto(
    asked: AutoOptions,
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    budget: options.Budget = "10m",
    save: options.Save = _PLACE,
    workers: options.Workers = None,
    ray: options.Ray = None,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Try methods from simple to dear on a graph, say what the graph adds to its features, and save a predictor of the best few.

    Example: chebnet2d auto my-graph/ --budget 10m --save my-predictor
    """
    started = time.perf_counter()

    from chebnet2d.auto import NodePredictor
    from chebnet2d.auto.loop import INTERRUPTED
    from chebnet2d.auto.predictor import check_predictor_folder
    from chebnet2d.cli.console import connected_to, print_json, say
    from chebnet2d.cli.progress import auto_step, progress_bar
    from chebnet2d.data.any_graph import load_graph
    from chebnet2d.search import Budget

    seconds = Budget.of(budget).seconds  # before the graph is read
    processes = options.as_many_as_threads("auto", workers, ray)
    if workers is None and seconds is not None and seconds < _SHORT:
        processes = 1
    save = save or _PLACE
    check_predictor_folder("auto", "save", save)
    arguments = options.typed(asked)
    if asked.methods:
        arguments["methods"] = [name.strip() for name in asked.methods.split(",") if name.strip()]
    predictor = NodePredictor(**arguments)
    reading = options.typed(graph)
    data = load_graph(dataset, data_root, **reading)
    for line in data.get("notes") or ():
        say(line, quiet=json)
    work = save.with_name(save.name + ".work")
    with progress_bar(auto_step, quiet=json) as report, connected_to(ray):
        where = options.executor_of(ray, processes)
        predictor.fit(data, budget, work=work, progress=report, started=started, reading=reading, executor=where)
    predictor.save(save)
    interrupted = predictor.facts["stopped"] == INTERRUPTED
    if not interrupted:
        predictor.forget_work()
    if json:
        print_json({**predictor.facts, "saved": str(save)})
    else:
        _say(predictor, data.name, save)
    if interrupted:
        raise KeyboardInterrupt


def _say(predictor: Any, name: str, save: Path) -> None:
    from chebnet2d.cli.console import calibration_line, say
    from chebnet2d.cli.tables import duration, make_table, print_table
    from chebnet2d.training.metrics import shown_value, title_of_metric

    facts = predictor.facts
    metric = facts["metric"]
    title = f"{name}: {title_of_metric(metric)} on {facts['folds']} folds of {facts['pool']} nodes"
    columns = ("method", "score", "95 % interval", "settings tried", "seconds", "predictor", "status")
    table = make_table(*columns, left=("method", "predictor", "status"), title=title)
    for row in predictor.leaderboard():
        score = "" if row["score"] is None else shown_value(metric, row["score"])
        ends = [row["low"], row["high"]]
        span = "" if None in ends else " to ".join(shown_value(metric, end).removesuffix(" %") for end in ends)
        counts = [str(row["settings"]), f"{row['seconds']:.1f}"]
        table.add_row(row["method"], score, span, *counts, "member" if row["in_predictor"] else "", row["status"])
    print_table(table)
    by_bases = [row["method"] for row in predictor.leaderboard() if row["on_bases"]]
    if by_bases:
        say(f"trained by bases on disk, since the whole graph at once takes too much memory or too long: {', '.join(by_bases)}")
    say(predictor.graph_adds)
    if facts["test"] is not None:
        reached = shown_value(metric, facts["test"]["scores"][metric])
        say(f"test {title_of_metric(metric)} of the predictor: {reached} ({facts['test_nodes']} nodes, looked at once)")
        say(calibration_line(facts["test"]["calibration"], predictor.ensemble.temperature, "out-of-fold"))
    say(f"predictor saved in {save} ({duration(facts['seconds'])}, stopped: {facts['stopped']})")
