"""train-bases: one model on precomputed bases."""

from dataclasses import dataclass
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
class FixedRunOptions(options.RunOptions):
    split: options.Split = "fixed"


@dataclass(frozen=True)
class RowBatchOptions:
    batch_size: Annotated[int, typer.Option(help="Rows of a batch, of all processes together."), Also("size")] = 10_000
    memory: Annotated[str | None, typer.Option(help="Hold the training rows in memory up to this size.")] = None


@command("train-bases", order=80)
def train_bases(
    folder: Annotated[Path, typer.Argument(help="Folder written by: chebnet2d precompute.")],
    model: BasisModelOptions,
    training: options.TrainingOptions,
    run: FixedRunOptions,
    batches: RowBatchOptions,
    method: options.Method = "chebnet2d",
    preset: options.Preset = None,
    save: options.Save = None,
    json: options.Json = False,
) -> None:
    """Train on precomputed bases. Under torchrun, several processes share each batch.

    Example: chebnet2d train-bases arxiv-bases --hidden 512 --layers 3 --epochs 50

    Example: torchrun --nproc-per-node 2 -m chebnet2d train-bases arxiv-bases
    """
    from contextlib import nullcontext
    from dataclasses import replace

    from chebnet2d.bases import Bases
    from chebnet2d.cli.console import finish, say, say_scores
    from chebnet2d.cli.progress import progress_bar, training_step
    from chebnet2d.data.preparation import Preparation
    from chebnet2d.models.saving import check_model_folder
    from chebnet2d.training import Batches, fit, process_group, stored_split, under_torchrun
    from chebnet2d.training.processes import process_rank

    wanted = Batches(batches.batch_size, memory=batches.memory)
    bases, preparation = Bases.open(folder), Preparation.read(folder)
    recipe = options.RecipeOptions(method, preset).recipe(bases.manifest.name, training)
    if preset is not None:
        preparation.check_transform("train-bases", recipe.transform)
    if save is not None:
        check_model_folder("train-bases", "save", save)
    built = replace(recipe, model={**recipe.model, **options.typed(model)}).build(bases)
    settings = {"epochs": 1000, "patience": 300, **recipe.settings}
    split = stored_split(bases, run.split, run.seed)
    with process_group(run.device) if under_torchrun() else nullcontext():
        first = process_rank()[0] == 0
        quiet = json or not first
        parameters = sum(p.numel() for p in built.parameters())
        say(f"{bases}", quiet=quiet)
        say(f"{recipe.method}, {built.reading}: {parameters} parameters; split: {split}", quiet=quiet)
        with progress_bar(training_step, quiet=quiet) as report:
            result = fit(built, bases, split, run.seed, batches=wanted, device=run.device, progress=report, **settings)
    if not first:
        return
    record: dict[str, Any] = {
        "bases": str(folder),
        "method": recipe.method,
        "preset": recipe.origin,
        "reading": built.reading,
    }
    record |= {**preparation.to_json(), **result.to_record()}
    say_scores(result, quiet=json)
    finish(built, record, save, json)
