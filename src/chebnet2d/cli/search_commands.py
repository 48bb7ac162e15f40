"""search: settings for a method on a dataset, by validation alone."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chebnet2d.cli.own_graph import takes_own_graph

if TYPE_CHECKING:
    from chebnet2d.search import SearchProgress, SearchResult


@takes_own_graph
def search(
    dataset: Annotated[str, typer.Argument(help="Name of a dataset, or a folder or file with your own graph.")] = "",
    method: Annotated[str, typer.Option(help="Method, or method:variant.")] = "chebnet2d",
    budget: Annotated[str, typer.Option(help="Time like 90s, 10m or 2h, or a number of trials.")] = "10m",
    sampler: Annotated[str, typer.Option(help="tpe, random or grid.")] = "tpe",
    splits: Annotated[int, typer.Option(help="Splits that every trial is trained on; its score is the mean.")] = 3,
    split: Annotated[str, typer.Option(help="Kind of split: uniform, balanced, ...")] = "uniform",
    batch: Annotated[
        int | None,
        typer.Option(help="Trials that are trained side by side (default: 16, at most a quarter of a number of trials)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sampler and of the initial parameters.")] = 0,
    ranges: Annotated[
        list[str] | None, typer.Option("--range", help="Values of one name, instead of the usual ones: lr=0.01,0.05.")
    ] = None,
    halving: Annotated[bool, typer.Option(help="Let the worse half of a batch leave at each rung.")] = True,
    baseline: Annotated[bool, typer.Option(help="Train the shipped preset first, to compare with.")] = True,
    epochs: Annotated[int, typer.Option(help="At most this many epochs.")] = 2000,
    patience: Annotated[int, typer.Option(help="Stop after this many epochs without improvement.")] = 200,
    monitor: Annotated[str, typer.Option(help="What improves: validation accuracy or loss.")] = "accuracy",
    storage: Annotated[
        str | None, typer.Option(help="Keep the trials here, and go on from those that are there: sqlite:///search.db.")
    ] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster whose CPUs train a batch each, or 'auto'.")] = None,
    out: Annotated[Path | None, typer.Option(help="Preset file to write; default: METHOD-DATASET.toml.")] = None,
    log: Annotated[Path | None, typer.Option(help="Append a line for every batch to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")] = False,
    data_root: Annotated[Path | None, typer.Option(help="Folder with datasets; default: $CHEBNET2D_DATA.")] = None,
    own: Any = None,
) -> None:
    """Search settings of a method for a dataset and write the best as a preset. Test nodes are never looked at.

    Example: chebnet2d search chameleon --method chebnet2d --budget 10m --out chameleon.toml
    """
    from dataclasses import replace

    from chebnet2d._targets import check_target
    from chebnet2d.cli.console import cluster_news, log_lines, print_json, say
    from chebnet2d.cli.graphs import check_labels, is_own, read_data
    from chebnet2d.cluster import RayExecutor
    from chebnet2d.recipes import canonical_name, load_recipe, write_recipe
    from chebnet2d.search import Budget
    from chebnet2d.search import search as run_search

    limits = Budget.of(budget)
    values = dict(_range(text) for text in ranges or [])
    if log is not None:
        check_target("search", "--log", log)
    data = read_data("search", dataset, data_root, own)
    check_labels("search", data)
    # A path is no name to find settings by, and the settings found for it hold wherever their file is used.
    own_graph = not dataset or is_own(dataset)
    name = "default" if own_graph else canonical_name(dataset)
    target = _target(out, method, data.name if own_graph else name)
    with _progress() as report, log_lines(log) as write, nullcontext() if ray is None else cluster_news():
        result = run_search(
            data,
            method,
            budget=limits,
            sampler=sampler,
            splits=splits,
            split=split,
            batch=batch,
            seed=seed,
            storage=storage,
            ranges=values,
            recipe=load_recipe(method, name),
            baseline=baseline,
            halving=halving,
            epochs=epochs,
            patience=patience,
            monitor=monitor,
            executor=None if ray is None else RayExecutor(ray),
            progress=report,
            log=write,
        )
    write_recipe(target, replace(result.recipe, dataset=name), _notes(result))
    if json:
        print_json({**result.to_json(), "out": str(target)})
    else:
        _print(result)
        say(f"preset: {target}")
    if result.stopped == "interrupted":
        raise typer.Exit(130)


def _range(text: str) -> tuple[str, list[Any]]:
    """lr=0.01,0.05 -> ("lr", [0.01, 0.05]). Numbers, true and false, else words."""
    from chebnet2d._checks import InputError

    name, mark, values = text.partition("=")
    words = [word.strip() for word in values.split(",") if word.strip()]
    if not mark or not name.strip() or not words:
        raise InputError("search", "--range", "like lr=0.01,0.05", text)
    return name.strip(), [_value(word) for word in words]


def _value(word: str) -> Any:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(word, word)


def _target(out: Path | None, method: str, dataset: str) -> Path:
    """Where the preset goes; checked before the work, not after it."""
    from chebnet2d._checks import InputError
    from chebnet2d._targets import check_target

    target = out if out is not None else Path(f"{method.replace(':', '-')}-{dataset}.toml")
    if target.suffix != ".toml":
        raise InputError("search", "--out", "a file that ends in .toml", str(target))
    check_target("search", "--out", target)
    if target.is_file() and not _is_preset(target, method):
        raise InputError("search", "--out", "a new file or a preset", got=f"{str(target)!r}, which is something else")
    return target


def _is_preset(path: Path, method: str) -> bool:
    from chebnet2d._checks import InputError
    from chebnet2d.recipes.files import read_recipes

    try:
        read_recipes(path, method)
    except InputError:
        return False
    return True


def _notes(result: "SearchResult") -> dict[str, Any]:
    """Comments in the preset file: what the settings were chosen by."""
    import chebnet2d

    names = ("sampler", "budget", "batch", "rungs", "seed", "split", "splits")
    return {
        "written by": f"chebnet2d {chebnet2d.__version__} search",
        **{name: result.facts[name] for name in names},
        "trials": f"{len(result.trials)}, {sum(trial.pruned for trial in result.trials)} of them pruned",
        f"validation {result.metric}": f"{result.val_metric:.4f}, mean over the splits, the best of all trials",
    }


def _print(result: "SearchResult") -> None:
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


@contextmanager
def _progress() -> Iterator[Any]:
    """Trials, the best score and what is left of the budget, on stderr; nothing when it is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("search"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("")

        def report(progress: "SearchProgress") -> None:
            words = [f"{progress.trials} trials"]
            if progress.in_training:
                epoch = "" if progress.epoch is None else f", epoch {progress.epoch.epoch}"
                words.append(f"{progress.in_training} in training{epoch}")
            if progress.best is not None:
                words.append(f"best validation {progress.best:.4f}")
            total = progress.budget.seconds or progress.budget.trials
            done = progress.seconds if progress.budget.seconds else progress.trials
            shown.update(task, total=total, completed=done, description=", ".join(words))

        yield report
