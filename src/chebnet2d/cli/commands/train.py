"""train: one model on one graph, which is taken whole, in mini batches of nodes, or by its bases on disk."""

from pathlib import Path
from typing import Any

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("train", order=10)
def train(
    recipe: options.RecipeOptions,
    model: options.ModelOptions,
    training: options.TrainingOptions,
    run: options.JudgedRunOptions,
    batches: options.BatchOptions,
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    save: options.Save = None,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Train a model and print its test accuracy. Settings are those known to suit the dataset; without a dataset: digits.

    On your own graph, without a method and settings, a few methods are trained and the best by validation nodes is kept.

    Example: chebnet2d train digits --degree 8 --seed 1 --save my-model

    Example: chebnet2d train penn94 --method linkx --preset shipped --split fixed --batch-size 2000

    Example: chebnet2d train my-graph --memory 4GiB --save my-model
    """
    import tempfile
    from contextlib import ExitStack
    from dataclasses import asdict

    from chebnet2d import data as datasets
    from chebnet2d._device import checked_device
    from chebnet2d._sizes import free_bytes, parse_bytes, resident_bytes
    from chebnet2d.cli.console import finish, notice, say, say_report, say_scores
    from chebnet2d.cli.progress import progress_bar, training_step
    from chebnet2d.data.any_graph import check_trainable, is_own_graph, load_graph, way_of_reading
    from chebnet2d.models.saving import BASES_FOLDER, CHECKPOINT, check_model_folder
    from chebnet2d.preparation import Preparation
    from chebnet2d.recipes import AUTO, CLASS_DEFAULTS, NEVER, ROWS, choose_way, short_origin, steps_in_place_of_epochs
    from chebnet2d.training import Checkpoint, Interrupted, Settings, calibrate, fit, judge
    from chebnet2d.training.metrics import check_metric
    from chebnet2d.training.tasks.neighbours import how_neighbours_are_drawn

    reading = options.typed(graph)
    dataset = dataset or ("" if reading else "digits")
    own_graph = not dataset or is_own_graph(dataset)
    chosen = recipe.recipe(dataset, training, model, own=own_graph)
    asked = batches.bases if batches.batch_size is None or batches.bases != AUTO else NEVER  # batches of nodes need the graph
    wanted = batches.batches(chosen.method) if asked in (AUTO, NEVER) else None
    limit = None if batches.memory is None else parse_bytes(batches.memory, "train")
    checked_device("train", run.device)
    if save is not None:
        check_model_folder("train", "save", save)
    way = way_of_reading("train", limit, dataset, reading, chunks=wanted is None and asked != NEVER)
    data = load_graph(dataset, data_root, **reading, **way)
    check_trainable(data, "train")
    preparation = Preparation.fit(data, chosen.transform, reading)
    data = preparation.apply(data)
    if run.metric is not None:
        data.metric = check_metric("train", run.metric, datasets.num_classes(data))
    settings = {**chosen.settings, **({} if run.class_weight is None else {"class_weight": run.class_weight})}
    Settings.of(**settings)
    built, split = chosen.build(data), datasets.split(data, run.split or datasets.usual_split(data), seed=run.seed)
    say(f"{data.name}: {_sizes(data)}, {datasets.num_classes(data)} classes", quiet=json)
    for line in (*datasets.preparation_lines(data), *(data.get("notes") or ())):
        say(line, quiet=json)
    say(f"split: {split}", quiet=json)
    for line in _warnings(data, split, run, chosen.name, getattr(built, "bound_to_nodes", False)):
        say(line, quiet=json)
    if recipe.preset is None and not own_graph and chosen.origin != CLASS_DEFAULTS:
        say(f"settings for {data.name}: {short_origin(chosen.origin)} (--preset none: the method's defaults)", quiet=json)
    if wanted is not None:
        say(f"batches of up to {wanted.size} nodes, sampling: {wanted.sampling}", quiet=json)
        if wanted.sampling == "neighbours":
            say(how_neighbours_are_drawn(), quiet=json)
    stopped: KeyboardInterrupt | None = None
    few: Any = None
    checkpoint: Checkpoint | None = None
    record: dict[str, Any] = {}
    with ExitStack() as stack:
        source: Any = data
        if wanted is None:
            choice = choose_way(chosen, built, data, asked=asked, limit=limit)
            if choice.reason is not None:
                say(choice.reason, quiet=json)
            if choice.bases:
                own = Path(asked) if asked != AUTO else None if save is None else save / BASES_FOLDER
                folder = own or Path(stack.enter_context(tempfile.TemporaryDirectory())) / BASES_FOLDER
                size = batches.batch_size or ROWS
                source, built, wanted = _on_disk(chosen, data, split, folder, size, limit, json)
                settings = steps_in_place_of_epochs(settings, split.train.numel(), size)
                record |= {"bases": None if own is None else str(own), "reading": built.reading}
                checkpoint = None if save is None else Checkpoint(save / CHECKPOINT, notice=notice)
            elif own_graph and recipe.is_open(training, model):
                from chebnet2d.auto import best_of_few

                typed = {name: settings[name] for name in {**options.typed(training), "class_weight": 0} if name in settings}
                asking: dict[str, Any] = {"metric": data.get("metric"), "device": run.device, "settings": typed}
                room = free_bytes() if limit is None else max(limit - resident_bytes(), 0)
                with progress_bar(training_step, quiet=json, lines=True) as report:
                    few = best_of_few(data, split, run.seed, memory=room, progress=report, **asking)
                say(str(few), quiet=json)
                chosen, result, built, stopped = few.recipe, few.result, few.result.model, few.stopped
                record |= {"chosen_from": dict(few.scores)}
        try:
            if few is None:
                with progress_bar(training_step, quiet=json, lines=True) as report:
                    fitting: dict[str, Any] = {"batches": wanted, "device": run.device, "progress": report, **settings}
                    result = fit(built, source, split, run.seed, metric=data.get("metric"), checkpoint=checkpoint, **fitting)
        except Interrupted as caught:
            stopped, result = caught, caught.result
        record |= {
            "dataset": data.name,
            "method": chosen.name,
            "preset": chosen.origin,
            "transform": preparation.transform,
            "class_names": preparation.class_names,
            "batches": None if wanted is None else asdict(wanted),
            "settings": asdict(result.settings),
            **result.to_record(),
        }
        say_scores(result, quiet=json)
        found = None
        if wanted is None or wanted.evaluation != "parts":  # else the whole graph is too much for one pass
            if stopped is None:
                found = judge(result, source)
            else:  # test nodes are for the end of a training
                calibrate(result, source)
    if found is not None:
        record |= {"threshold": built.threshold, "temperature": built.temperature, "report": found.to_json()}
        if not json:
            say_report(found, result.metric, built.threshold, built.temperature)
    finish(built, record, save, json, stopped)
    if checkpoint is not None:  # the model is saved, and the training is not to be continued
        checkpoint.remove()


def _on_disk(recipe: Any, data: Any, split: Any, folder: Path, size: int, limit: int | None, quiet: bool) -> tuple[Any, Any, Any]:
    """Bases in the folder, a model for them, and batches of their rows."""
    import numpy as np

    from chebnet2d._sizes import show_bytes
    from chebnet2d.cli.console import say
    from chebnet2d.cli.progress import precompute_step, progress_bar
    from chebnet2d.models import SeenNodes
    from chebnet2d.recipes import make_bases, memory_for_rows
    from chebnet2d.training import Batches

    with progress_bar(precompute_step, "TimeRemainingColumn", quiet=quiet, lines=True) as report:
        bases = make_bases(recipe, data, folder, memory=limit, progress=report)
    built = recipe.build(bases)
    ids = data.get("node_ids")
    built.preparation, built.seen = data.get("preparation"), SeenNodes(np.arange(data.num_nodes) if ids is None else ids, split)
    data.x = data.columns = None  # training reads the bases alone: room for their rows
    say(f"{bases}: {show_bytes(bases.nbytes)} in {folder}", quiet=quiet)
    say(f"{recipe.method}, {built.reading}, batches of {size} rows", quiet=quiet)
    return bases, built, Batches(size, memory=memory_for_rows(bases, size, limit))


def _warnings(data: Any, split: Any, run: options.JudgedRunOptions, method: str, bound: bool) -> list[str]:
    """What is told before the training. ``bound``: whether the model holds numbers for each node."""
    from chebnet2d import data as datasets
    from chebnet2d.data.describing import small_classes

    lines = list(datasets.parts_without_classes(split, data)) if data.get("node_ids") is not None else []
    if bound:
        lines.append(f"note: {method} holds numbers for each node: it predicts this graph alone, not one with other nodes")
    small = small_classes(datasets.class_balance(data))
    if small and run.metric is None and run.class_weight is None:
        lines.append(f"note: {small} (--metric f1_macro --class-weight balanced)")
    return lines


def _sizes(data: Any) -> str:
    """Nodes, labelled ones, edges and features: what is wrong with a file is often seen here first."""
    edges, labelled = int(data.edge_index.shape[1]), int((data.y >= 0).sum())
    some = "" if labelled == data.num_nodes else f" ({labelled} labelled)"
    empty = ": the graph is empty" if edges == 0 else ""
    return f"{data.num_nodes} nodes{some}, {edges} listed edges{empty}, {data.num_features} features"
