"""plot: what the filters of a model look like, what came out of a study, or what a graph is like."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Graphs:
    """Which graph is drawn, or is behind what is drawn."""

    data: Annotated[
        str | None, typer.Option(help="Name of a dataset, or a folder or file with your own graph, instead of a model.")
    ] = None
    graph: Annotated[
        str | None,
        typer.Option(help="With MODEL: dataset or own graph, for its spectrum behind the filters and the energy of each."),
        Also("plot_filters.data"),
    ] = None
    data_root: options.DataRoot = None


@command("plot", order=30)
def plot(
    graphs: Graphs,
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="Folder of a saved model or predictor."), Also("load.path")
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(help="Store or exported Parquet file of a study, instead of a model."),
        Also("Store.path", "study.reuse"),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Of a model: filters (default) or strengths. Of a study: intervals (default), critical-difference, best-of-n, "
            "curves or degree. Of a graph: data."
        ),
        Also("find_plot.name", "find_study_plot.name"),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Of a study with several kinds of split: which to draw.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Picture to write; default: KIND.png in the model's folder, beside the study, or here."),
        Also("plot.path"),
    ] = None,
    method: options.OutsideMethod = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Draw a model, by default its learned filters: one, one per channel, or one per pair of channels; the results of a study; or
    the spectrum, labels and degrees of a graph.

    Example: chebnet2d plot my-model --out filters.png
    Example: chebnet2d plot my-model --graph digits
    Example: chebnet2d plot --data digits --out digits.png
    Example: chebnet2d plot --study runs/study.sqlite --kind critical-difference --out ranks.svg
    """
    from chebnet2d._checks import InputError, one_of
    from chebnet2d._figures import check_picture, check_picture_file
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.data.any_graph import load_graph
    from chebnet2d.plots import find_plot, find_study_plot, plot_data, save_figure

    data, graph, data_root = graphs.data, graphs.graph, graphs.data_root
    given = [source for source in (model, study, data) if source is not None]
    if len(given) != 1:
        rule = "given by MODEL, by --study or by --data"
        raise InputError("plot", "what to draw", rule, got="several of them" if given else "none of them")
    if model is None and graph is not None:
        raise InputError("plot", "graph", "left out without MODEL", graph)
    if model is not None and split is not None:
        raise InputError("plot", "split", "left out beside MODEL", split)
    if model is None and method is not None:
        raise InputError("plot", "method", "left out without MODEL", method)
    if data is not None:
        kind = one_of("plot", "kind", kind or "data", ("data",))
    kind = kind or ("filters" if study is None else "intervals")
    if data is None:
        (find_plot if study is None else find_study_plot)(kind)  # before a study is read
    folder = model or (Path() if study is None else study.parent)
    picture = check_picture(out or folder / f"{kind}.png", "plot")
    check_picture_file("plot", "out", picture, keep=(study,), force=force)
    if data is not None:
        figure = plot_data(load_graph(data, data_root))
    else:
        figure = _of_study(study, kind, split) if study is not None else _of_model(folder, kind, method, graph, data_root)
    target = save_figure(figure, picture)
    say(f"{kind} drawn in {target}", quiet=json)
    if json:
        print_json({"out": str(target)})


def _of_model(model: Path, kind: str, method: str | None, graph: str | None, root: Path | None) -> "Figure":
    import inspect

    from chebnet2d._checks import InputError
    from chebnet2d.models import load, read_facts
    from chebnet2d.plots import find_plot
    from chebnet2d.predictions import read_for
    from chebnet2d.preparation import Preparation

    draw, loaded = find_plot(kind), load(model, method=method)
    class_names = (loaded.preparation or Preparation.from_json(read_facts(model))).class_names
    if graph is None:
        return draw(loaded, class_names=class_names)
    if "data" not in inspect.signature(draw).parameters:
        raise InputError("plot", "graph", f"left out for {kind!r}, which shows the model alone", graph)
    return draw(loaded, class_names=class_names, data=read_for(loaded, graph, root))  # type: ignore[call-arg]


def _of_study(study: Path, kind: str, split: str | None) -> "Figure":
    from chebnet2d._checks import InputError, one_of
    from chebnet2d.plots import find_study_plot
    from chebnet2d.reports.scores import by_split_kind
    from chebnet2d.study import read_for_plots

    rows = read_for_plots(study)
    if not rows:
        raise InputError("plot", f"{str(study)!r}", "finished runs", got="none yet", verb="have")
    kinds = tuple(dict.fromkeys(row["split"] for row in rows))
    if split is not None:
        one_of("plot", "split", split, kinds)
        rows = [row for row in rows if row["split"] == split]
    elif len(by_split_kind(rows)) > 1:
        raise InputError("plot", "--split", f"one of {', '.join(map(repr, kinds))}", got="none of them")
    return find_study_plot(kind)(rows)
