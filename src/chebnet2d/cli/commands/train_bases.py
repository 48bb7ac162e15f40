"""train-bases: one model on precomputed bases."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also

_LIMITS = {"epochs": 1000, "patience": 300}


@dataclass(frozen=True)
class BasisModelOptions:
    """Arguments of ``on_bases``."""

    reading: Annotated[str, typer.Option(help="filter-first: MLP(sum P_d W_d). each-basis: sum MLP(P_d) W_d.")] = "filter-first"
    maps: Annotated[str, typer.Option(help="Of filter-first: F x H (hidden), F x F (features), the smaller one (auto).")] = "auto"
    hidden_channels: options.Hidden = None
    num_layers: Annotated[int | None, typer.Option("--layers", help="Linear layers of the MLP (default: 2).")] = None
    dropout: options.DropoutRate = None


@dataclass(frozen=True)
class FixedRunOptions(options.RunOptions):
    split: options.Split = "fixed"


@command("train-bases", order=80)
def train_bases(
    folder: Annotated[Path, typer.Argument(help="Folder written by: chebnet2d precompute.")],
    model: BasisModelOptions,
    training: options.TrainingOptions,
    run: FixedRunOptions,
    method: options.Method = "chebnet2d",
    batch_size: Annotated[int, typer.Option(help="Rows of a batch, of all processes together."), Also("size")] = 10_000,
    memory: Annotated[str | None, typer.Option(help="Hold the training rows in memory up to this size.")] = None,
    json: options.Json = False,
) -> None:
    """Train on precomputed bases. Under torchrun, several processes share each batch.

    Example: chebnet2d train-bases arxiv-bases --hidden 512 --layers 3 --epochs 50

    Example: torchrun --nproc-per-node 2 -m chebnet2d train-bases arxiv-bases
    """
    from contextlib import nullcontext

    from chebnet2d.bases import Bases
    from chebnet2d.cli.console import print_json, say, say_scores
    from chebnet2d.cli.progress import progress_bar, training_step
    from chebnet2d.training import Batches, Settings, fit, process_group, stored_split, under_torchrun
    from chebnet2d.training.basis_models import on_bases
    from chebnet2d.training.processes import process_rank

    settings = {**_LIMITS, **options.typed(training)}
    Settings.of(**settings)
    batches = Batches(batch_size, memory=memory)
    bases = Bases.open(folder)
    arguments = {"hidden_channels": 64, "num_layers": 2, "dropout": 0.5, **options.typed(model)}
    built = on_bases(method, bases, **arguments)
    split = stored_split(bases, run.split, run.seed)
    with process_group(run.device) if under_torchrun() else nullcontext():
        first = process_rank()[0] == 0
        quiet = json or not first
        parameters = sum(p.numel() for p in built.parameters())
        say(f"{bases}", quiet=quiet)
        say(f"{method}, {model.reading}: {parameters} parameters; split: {split}", quiet=quiet)
        with progress_bar(training_step, quiet=quiet) as report:
            result = fit(built, bases, split, run.seed, batches=batches, device=run.device, progress=report, **settings)
    if not first:
        return
    say_scores(result, quiet=json)
    if json:
        print_json({"bases": str(folder), "method": method, "reading": model.reading, **result.to_record()})
