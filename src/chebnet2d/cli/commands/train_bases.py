"""train-bases: one model on precomputed bases."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also


@dataclass(frozen=True)
class BasisModelOptions:
    """Arguments of ``on_bases``."""

    reading: Annotated[
        str | None, typer.Option(help="filter-first (default): MLP(sum P_d W_d). each-basis: sum MLP(P_d) W_d.")
    ] = None
    maps: Annotated[
        str | None, typer.Option(help="Of filter-first: F x H (hidden), F x F (features), the smaller one (auto, default).")
    ] = None
    hidden_channels: options.Hidden = None
    num_layers: Annotated[int | None, typer.Option("--layers", help="Linear layers of the MLP (default: 2).")] = None
    dropout: options.DropoutRate = None


@dataclass(frozen=True)
class StoredRunOptions(options.JudgedRunOptions):
    split: Annotated[
        str | None,
        typer.Option(help="Kind of split: fixed (default, if the bases have one), stratified (else), uniform, ..."),
        Also("kind"),
    ] = None


@dataclass(frozen=True)
class RowBatchOptions:
    batch_size: Annotated[int, typer.Option(help="Rows of a batch, of all processes together."), Also("size")] = 10_000
    memory: Annotated[str | None, typer.Option(help="Hold the training rows in memory up to this size.")] = None
    shards: Annotated[
        int | None,
        typer.Option(help="Parts of a batch, each with its own dropout: 2 here do what 2 processes do (default: processes)."),
        Also("batches.shards"),
    ] = None


@command("train-bases", order=80)
def train_bases(
    folder: Annotated[Path, typer.Argument(help="Folder written by: chebnet2d precompute.")],
    model: BasisModelOptions,
    training: options.TrainingOptions,
    run: StoredRunOptions,
    batches: RowBatchOptions,
    method: options.Method = "chebnet2d",
    preset: options.Preset = None,
    timeout: Annotated[float, typer.Option(help="Of torchrun: seconds that a process waits for the others.")] = 300.0,
    save: options.Save = None,
    json: options.Json = False,
) -> None:
    """Train on precomputed bases. Under torchrun, several processes share each batch.

    With --save, the same command goes on from the last checkpoint after whatever ended it.

    Example: chebnet2d train-bases arxiv-bases --hidden 512 --layers 3 --epochs 50

    Example: torchrun --nproc-per-node 2 -m chebnet2d train-bases arxiv-bases
    """
    from contextlib import nullcontext
    from dataclasses import replace

    from chebnet2d.bases import Bases
    from chebnet2d.cli.console import finish, notice, say, say_scores
    from chebnet2d.cli.progress import progress_bar, training_step
    from chebnet2d.models.saving import CHECKPOINT, check_model_folder
    from chebnet2d.preparation import Preparation
    from chebnet2d.training import Batches, Checkpoint, Interrupted, fit, process_group, stored_split, under_torchrun
    from chebnet2d.training.metrics import check_metric
    from chebnet2d.training.processes import process_rank

    wanted = Batches(batches.batch_size, memory=batches.memory, shards=batches.shards)
    bases, preparation = Bases.open(folder), Preparation.read(folder)
    # Bases have the degree and the features that they were made with: settings for the dataset are taken only if asked for.
    recipe = options.RecipeOptions(method, preset or "none").recipe(bases.manifest.name, training)
    if preset not in (None, "none"):
        preparation.check_transform("train-bases", recipe.transform)
    if save is not None:
        check_model_folder("train-bases", "save", save)
    checkpoint = None if save is None else Checkpoint(save / CHECKPOINT, notice=notice)
    built = replace(recipe, model={**recipe.model, **options.typed(model)}).build(bases)
    settings = {"epochs": 1000, "patience": 300, **recipe.settings}
    settings |= {} if run.class_weight is None else {"class_weight": run.class_weight}
    metric = None if run.metric is None else check_metric("train-bases", run.metric, bases.num_classes or 0)
    split = stored_split(bases, run.split or ("stratified" if bases.parts is None else "fixed"), run.seed)
    with process_group(run.device, timeout) if under_torchrun() else nullcontext():
        first = process_rank()[0] == 0
        quiet = json or not first
        parameters = sum(p.numel() for p in built.parameters())
        say(f"{bases}", quiet=quiet)
        say(f"{recipe.method}, {built.reading}: {parameters} parameters; split: {split}", quiet=quiet)
        stopped: Interrupted | None = None
        try:
            with progress_bar(training_step, quiet=quiet, lines=True) as report:
                fitting: dict[str, Any] = {"batches": wanted, "device": run.device, "progress": report, **settings}
                result = fit(built, bases, split, run.seed, metric=metric, checkpoint=checkpoint, **fitting)
        except Interrupted as caught:
            stopped, result = caught, caught.result
    if not first:
        if stopped is not None:
            raise stopped
        return
    record: dict[str, Any] = {
        "bases": str(folder),
        "method": recipe.method,
        "preset": recipe.origin,
        "reading": built.reading,
    }
    built.preparation = preparation
    record |= {"transform": preparation.transform, "class_names": preparation.class_names}
    record |= {"settings": asdict(result.settings), **result.to_record()}
    say_scores(result, quiet=json)
    finish(built, record, save, json, stopped)
    if checkpoint is not None:  # the model is saved, and the training is not to be continued
        checkpoint.remove()
