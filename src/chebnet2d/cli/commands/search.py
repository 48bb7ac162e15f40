"""search: settings for a method on a dataset, by validation alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command

if TYPE_CHECKING:
    from chebnet2d.search import SearchResult


@dataclass(frozen=True)
class SearchOptions:
    """Arguments of ``search``."""

    budget: options.Budget = "10m"
    sampler: Annotated[str, typer.Option(help="tpe, random or grid.")] = "tpe"
    splits: Annotated[int, typer.Option(help="Splits that every trial is trained on; its score is the mean.")] = 3
    split: options.Split = "uniform"
    metric: options.Metric = None
    batch: Annotated[
        int | None,
        typer.Option(help="Trials that are trained side by side (default: 16, at most a quarter of a number of trials)."),
    ] = None
    seed: Annotated[int, typer.Option(help="Seed of the sampler and of the initial parameters.")] = 0
    halving: Annotated[bool, typer.Option(help="Let the worse half of a batch leave at each rung.")] = True
    baseline: Annotated[bool, typer.Option(help="Train the shipped preset first, to compare with.")] = True
    storage: Annotated[
        str | None, typer.Option(help="Keep the trials here, and go on from those that are there: sqlite:///search.db.")
    ] = None


@dataclass(frozen=True)
class PresetFileOptions:
    out: Annotated[Path | None, typer.Option(help="Preset file to write; default: METHOD-DATASET.toml.")] = None
    force: options.Force = False


@command("search", order=60)
def search(
    asked: SearchOptions,
    stopping: options.StoppingOptions,
    cluster: options.ClusterOptions,
    graph: options.GraphOptions,
    preset: PresetFileOptions,
    dataset: options.Dataset = "",
    method: options.Method = "chebnet2d",
    ranges: Annotated[
        list[str] | None, typer.Option("--range", help="Values of one name, instead of the usual ones: lr=0.01,0.05.")
    ] = None,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Search settings of a method for a dataset and write the best as a preset. Test nodes are never looked at.

    Example: chebnet2d search chameleon --method chebnet2d --budget 10m --out chameleon.toml
    """
    from dataclasses import asdict, replace

    from chebnet2d.cli.console import check_log, connected_to, log_lines, notice, print_json, say
    from chebnet2d.cli.progress import progress_bar, search_step
    from chebnet2d.data.any_graph import check_trainable, is_own_graph, load_graph
    from chebnet2d.data.dataset import num_classes
    from chebnet2d.recipes import DEFAULT, canonical_name, check_recipe_file, load_recipe, write_recipe
    from chebnet2d.search import Budget
    from chebnet2d.search import search as run_search
    from chebnet2d.training.metrics import check_metric

    Budget.of(asked.budget)  # before the graph is read
    values = dict(_range(text) for text in ranges or [])
    if cluster.log is not None:
        check_log("search", cluster.log)
    data = load_graph(dataset, data_root, **options.typed(graph))
    check_trainable(data, "search")
    if asked.metric is not None:
        data.metric = check_metric("search", asked.metric, num_classes(data))
    # A path is no name to find settings by, and the settings found for it hold wherever their file is used.
    own = not dataset or is_own_graph(dataset)
    name = DEFAULT if own else canonical_name(dataset)
    target = preset.out or Path(f"{Path(method).name.replace(':', '-')}-{data.name if own else name}.toml")
    check_recipe_file("search", "out", target, force=preset.force)
    arguments = {
        **{name: value for name, value in asdict(asked).items() if name != "metric"},
        **options.typed(stopping),
        "ranges": values,
        "recipe": load_recipe(method, name),
        "notice": notice,
    }
    with progress_bar(search_step, quiet=json) as report, log_lines(cluster.log) as write, connected_to(cluster.ray):
        result = run_search(data, method, **arguments, executor=options.executor_of(cluster.ray), progress=report, log=write)
    write_recipe(target, replace(result.recipe, dataset=name), result.notes())
    if json:
        print_json({**result.to_json(), "out": str(target)})
    else:
        _say(result)
        say(f"preset: {target}")
    if result.stopped == "interrupted":
        raise KeyboardInterrupt


def _range(text: str) -> tuple[str, list[Any]]:
    """lr=0.01,0.05 -> ("lr", [0.01, 0.05]). Numbers, true and false, else words."""
    from chebnet2d._checks import InputError

    name, mark, values = text.partition("=")
    words = [word.strip() for word in values.split(",") if word.strip()]
    if not mark or not name.strip() or not words:
        raise InputError("search", "ranges", "like lr=0.01,0.05", text)
    return name.strip(), [_value(word) for word in words]


def _value(word: str) -> Any:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(word, word)


def _say(result: "SearchResult") -> None:
    from chebnet2d.cli.console import say

    pruned = sum(trial.pruned for trial in result.trials)
    say(f"{len(result.trials)} trials, {pruned} of them pruned, {result.seconds:.1f} s (stopped: {result.stopped})")
    for title, trial in (("baseline", result.baseline), ("best trial", result.best)):
        if trial is not None:
            each = ", ".join(f"{100 * score:.2f}" for score in trial.scores)
            cut = f", cut off after {max(trial.epochs)} epochs" if trial.pruned else ""
            say(f"validation {result.metric} of the {title}: {100 * trial.val_metric:.2f} % ({each}){cut}")
    for title, values in (("model", result.recipe.model), ("settings", result.recipe.settings)):
        say(f"{title}: " + ", ".join(f"{name} = {value}" for name, value in values.items()))
