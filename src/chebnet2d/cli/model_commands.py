"""train, predict, plot: one model on one graph."""

from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli.own_graph import takes_own_graph

BATCHES = "Mini batches of nodes (see docs/large-graphs.md)"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
DataRoot = Annotated[Path | None, typer.Option(help="Folder with datasets; default: $CHEBNET2D_DATA.")]


@takes_own_graph
def train(
    dataset: Annotated[
        str, typer.Argument(help="Name of a dataset (default: digits), or a folder or file with your own graph.")
    ] = "",
    method: Annotated[str, typer.Option(help="A method; `chebnet2d models` lists them.")] = "chebnet2d",
    preset: Annotated[str | None, typer.Option(help="Settings from a preset file, or 'shipped' for the package's own.")] = None,
    degree: Annotated[int | None, typer.Option(help="Degree D of the polynomial filters (default: 10).")] = None,
    hidden: Annotated[int | None, typer.Option(help="Hidden units of the MLP (default: 64).")] = None,
    dropout: Annotated[float | None, typer.Option(help="Dropout before each linear layer (default: 0.5).")] = None,
    filter_dropout: Annotated[float | None, typer.Option(help="Dropout before the filter (default: 0).")] = None,
    rank: Annotated[int | None, typer.Option(help="Rank r of the convolution; default: the full 2-D convolution.")] = None,
    init: Annotated[str | None, typer.Option(help="Start of the filters: identity or xavier (default: identity).")] = None,
    scaling: Annotated[str | None, typer.Option(help="interpolation, coefficients or paper (default: interpolation).")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of the MLP (default: 0.01).")] = None,
    filter_lr: Annotated[float | None, typer.Option(help="Learning rate of the filter (default: as --lr).")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Weight decay of the MLP (default: 5e-4).")] = None,
    filter_weight_decay: Annotated[float | None, typer.Option(help="Weight decay of the filter (default: as the MLP).")] = None,
    transform: Annotated[
        str | None, typer.Option(help="none, row-normalize or standardize (features), largest-component (default: none).")
    ] = None,
    split: Annotated[str, typer.Option(help="Kind of split: uniform, balanced, ...")] = "uniform",
    seed: Annotated[int, typer.Option(help="Seed of the split, the initial parameters and dropout.")] = 0,
    epochs: Annotated[int | None, typer.Option(help="At most this many epochs (default: 2000).")] = None,
    patience: Annotated[int | None, typer.Option(help="Stop after this many epochs without improvement (default: 200).")] = None,
    monitor: Annotated[str | None, typer.Option(help="What improves: validation accuracy (default) or loss.")] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Nodes of a mini batch; default: all nodes at once.", rich_help_panel=BATCHES)
    ] = None,
    sampling: Annotated[
        str | None, typer.Option(help="rows, induced or induced-train; default: the method's own.", rich_help_panel=BATCHES)
    ] = None,
    evaluation: Annotated[
        str | None, typer.Option(help="Of induced batches: whole (default) or parts.", rich_help_panel=BATCHES)
    ] = None,
    evaluate_every: Annotated[
        int | None, typer.Option(help="Epochs between two looks at the validation nodes (default: 1).", rich_help_panel=BATCHES)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    save: Annotated[Path | None, typer.Option(help="Write the trained model to this folder.")] = None,
    json: Json = False,
    data_root: DataRoot = None,
    own: Any = None,
) -> None:
    """Train a model and print its test accuracy. The defaults are those without a preset.

    Example: chebnet2d train digits --degree 8 --seed 1 --save my-model

    Example: chebnet2d train penn94 --method linkx --preset shipped --split fixed --batch-size 2000
    """
    import chebnet2d
    from chebnet2d.cli.console import print_json, say, training_progress
    from chebnet2d.cli.graphs import check_labels, describe_graph, has_settings_for, read_data, reading_of, recipe_of

    shape: dict[str, Any] = {"degree": degree, "hidden_channels": hidden, "dropout": dropout, "filter_dropout": filter_dropout}
    shape |= {"rank": rank, "init": init, "scaling": scaling}
    numbers: dict[str, Any] = {
        "lr": lr,
        "weight_decay": weight_decay,
        "filter_lr": filter_lr,
        "filter_weight_decay": filter_weight_decay,
    }
    numbers |= {"epochs": epochs, "patience": patience, "monitor": monitor}
    if not own and not dataset:
        dataset = "digits"
    recipe = recipe_of(method, dataset, preset, shape, numbers, transform)
    batches = _batches(method, batch_size, sampling=sampling, evaluation=evaluation, evaluate_every=evaluate_every)
    if save is not None:
        _refuse_foreign_folder(save)
    data = read_data("train", dataset, data_root, own)
    check_labels("train", data)
    names = data.get("feature_names")
    scale = recipe.scale_of(data)
    data = recipe.prepare(data, scale)
    model = recipe.build(data)
    chosen = chebnet2d.data.split(data, split, seed=seed)
    classes = chebnet2d.data.num_classes(data)
    say(f"{data.name}: {describe_graph(data)}, {data.num_features} features, {classes} classes", quiet=json)
    say(f"split: {chosen}", quiet=json)
    if preset is None and not own and has_settings_for(method, dataset):
        say(f"settings: the method's defaults; those chosen for {data.name} come with --preset shipped", quiet=json)
    if batches:
        say(f"batches of up to {batch_size} nodes, sampling: {batches['sampling']}", quiet=json)
    with training_progress(quiet=json) as report:
        wanted = chebnet2d.training.Batches(**batches) if batches else None
        result = chebnet2d.fit(model, data, chosen, seed, batches=wanted, device=device, progress=report, **recipe.settings)
    record: dict[str, Any] = {
        "dataset": data.name,
        "method": method,
        "preset": recipe.origin,
        "transform": recipe.transform,
        "split": {"name": chosen.name, "seed": chosen.seed, "digest": chosen.digest},
        "seed": seed,
        "metric": result.metric,
        "test_accuracy": result.test.get("accuracy"),
        "test_roc_auc": result.test.get("roc_auc"),
        "val_metric": result.val_metric,
        "val_loss": result.val_loss,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "seconds": round(result.seconds, 3),
        "batches": batches or None,
        "class_names": [str(name) for name in data.get("class_names") or range(classes)],
        "feature_names": None if names is None else [str(name) for name in names],
        "reading": reading_of(own),
        "scale": None if scale is None else {part: values.tolist() for part, values in scale.items()},
    }
    say(f"validation {result.metric} {result.val_metric:.4f} at epoch {result.best_epoch} of {result.epochs}", quiet=json)
    if result.metric == "roc_auc" and result.test.get("roc_auc") is not None:
        say(f"test ROC-AUC {100 * result.test['roc_auc']:.2f} %", quiet=json)
    accuracy = 100 * (result.test.get("accuracy") or 0.0)
    say(f"test accuracy {accuracy:.2f} %  (split {chosen.name}, seed {seed}, {result.seconds:.1f} s)", quiet=json)
    if save is not None:
        chebnet2d.save(model, save, facts=record)
        record["saved"] = str(save)
        say(f"model saved in {save}", quiet=json)
    if json:
        print_json(record)


@takes_own_graph
def predict(
    model: Annotated[Path, typer.Argument(help="Folder of a saved model.")],
    out: Annotated[Path, typer.Option(help="File to write: .csv or .parquet.")],
    dataset: Annotated[str, typer.Argument(help="As for train; not needed with --edges.")] = "",
    json: Json = False,
    data_root: DataRoot = None,
    own: Any = None,
) -> None:
    """Write the label and the class probabilities of every node, with your own ids and label names.

    Example: chebnet2d predict my-model digits --out predictions.csv
    """
    import chebnet2d
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.cli.graphs import check_out, is_own, match_features, read_data, write_predictions
    from chebnet2d.recipes import Recipe

    check_out(out, dataset, own)
    loaded = chebnet2d.load(model)
    if not isinstance(loaded, chebnet2d.models.NodeClassifier):
        raise chebnet2d.InputError("predict", "model", "a model on a graph", got="one on bases")
    facts = chebnet2d.models.read_facts(model)
    if not dataset or is_own(dataset):
        own = {**facts.get("reading", {}), **own}
    data = match_features(read_data("predict", dataset, data_root, own), facts.get("feature_names"))
    recipe = Recipe(facts.get("method", "chebnet2d"), transform=facts.get("transform", "none"))
    data = recipe.prepare(data, facts.get("scale"))
    rows = write_predictions(loaded, data, facts.get("class_names"), out)
    say(f"{rows} predictions written to {out}", quiet=json)
    if json:
        print_json({"nodes": rows, "out": str(out)})


def plot(
    model: Annotated[Path, typer.Argument(help="Folder of a saved model.")],
    out: Annotated[Path | None, typer.Option(help="Picture to write; default: filters.png in the model's folder.")] = None,
    json: Json = False,
) -> None:
    """Draw the learned filter of every pair of channels, of a model of ChebNet2D.

    Example: chebnet2d plot my-model --out filters.png
    """
    import chebnet2d
    from chebnet2d._figures import check_picture
    from chebnet2d._targets import check_target
    from chebnet2d.cli.console import print_json, say

    picture = out or model / "filters.png"
    check_target("plot", "--out", picture)
    check_picture(picture, "plot")
    loaded = chebnet2d.load(model)
    names = chebnet2d.models.read_facts(model).get("class_names")
    target = chebnet2d.plots.save_figure(chebnet2d.plots.plot_filters(loaded, class_names=names), picture)
    say(f"filters drawn in {target}", quiet=json)
    if json:
        print_json({"out": str(target)})


def _batches(method: str, batch_size: int | None, **options: Any) -> dict[str, Any]:
    """Arguments of ``fit_on_nodes``, or none for a full batch. What a method cannot do is told before anything is read."""
    from chebnet2d._checks import InputError, integer
    from chebnet2d.models import find_model
    from chebnet2d.training import sampling_of

    given = {name: value for name, value in options.items() if value is not None}
    if batch_size is None:
        if given:
            flag = next(iter(given)).replace("_", "-")
            raise InputError("train", f"--{flag}", "with --batch-size", got="it without", verb="come")
        return {}
    integer("train", "--batch-size", batch_size, 2)
    return {"size": batch_size, **given, "sampling": sampling_of(find_model(method), options["sampling"])}


def _refuse_foreign_folder(save: Path) -> None:
    """Before the work, not after it: a model is not written into a folder that holds something else, nor below a file."""
    from chebnet2d._checks import InputError

    if save.exists() and not (save.is_dir() and (not any(save.iterdir()) or (save / "config.json").is_file())):
        raise InputError("train", "--save", "a new or empty folder or one with a model", str(save))
    above = next((folder for folder in save.absolute().parents if folder.exists()), None)
    if above is not None and not above.is_dir():
        raise InputError("train", "--save", "in a folder", got=f"{str(save)!r} below the file {str(above.name)!r}")
