"""train: one model on one graph."""

from typing import Any

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("train", order=10)
def train(
    recipe: options.RecipeOptions,
    model: options.ModelOptions,
    training: options.TrainingOptions,
    run: options.RunOptions,
    batches: options.BatchOptions,
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    save: options.Save = None,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Train a model and print its test accuracy. Defaults are those without a preset; without a dataset: digits.

    Example: chebnet2d train digits --degree 8 --seed 1 --save my-model

    Example: chebnet2d train penn94 --method linkx --preset shipped --split fixed --batch-size 2000
    """
    from dataclasses import asdict

    from chebnet2d import data as datasets
    from chebnet2d._device import checked_device
    from chebnet2d.cli.console import finish, say, say_scores
    from chebnet2d.cli.progress import progress_bar, training_step
    from chebnet2d.data.any_graph import check_classes, load_graph
    from chebnet2d.data.catalogue import known_name
    from chebnet2d.data.preparation import Preparation
    from chebnet2d.models.saving import check_model_folder
    from chebnet2d.recipes import shipped_recipes
    from chebnet2d.training import fit

    reading = options.typed(graph)
    dataset = dataset or ("" if reading else "digits")
    chosen = recipe.recipe(dataset, training, model)
    wanted = batches.batches(chosen.method)
    checked_device("train", run.device)
    if save is not None:
        check_model_folder("train", "save", save)
    raw = load_graph(dataset, data_root, **reading)
    check_classes(raw, "train")
    preparation = Preparation.fit(raw, chosen.transform, reading)
    data = preparation.apply(raw)
    built, split = chosen.build(data), datasets.split(data, run.split, seed=run.seed)
    say(f"{data.name}: {_sizes(data)}, {datasets.num_classes(data)} classes", quiet=json)
    say(f"split: {split}", quiet=json)
    if recipe.preset is None and not reading and known_name(dataset) in shipped_recipes(chosen.method):
        say(f"settings: the method's defaults; those chosen for {data.name} come with --preset shipped", quiet=json)
    if wanted is not None:
        say(f"batches of up to {wanted.size} nodes, sampling: {wanted.sampling}", quiet=json)
    with progress_bar(training_step, quiet=json) as report:
        result = fit(built, data, split, run.seed, batches=wanted, device=run.device, progress=report, **chosen.settings)
    record: dict[str, Any] = {"dataset": data.name, "method": chosen.name, "preset": chosen.origin, **preparation.to_json()}
    record |= {"batches": None if wanted is None else asdict(wanted), **result.to_record()}
    say_scores(result, quiet=json)
    finish(built, record, save, json)


def _sizes(data: Any) -> str:
    """Nodes, labelled ones, edges and features: what is wrong with a file is often seen here first."""
    edges, labelled = int(data.edge_index.shape[1]), int((data.y >= 0).sum())
    some = "" if labelled == data.num_nodes else f" ({labelled} labelled)"
    empty = ": the graph is empty" if edges == 0 else ""
    return f"{data.num_nodes} nodes{some}, {edges} listed edges{empty}, {data.num_features} features"
