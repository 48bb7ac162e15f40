"""precompute, train-bases and data generate: graphs that do not fit a full batch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli.own_graph import takes_own_graph

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
DataRoot = Annotated[Path | None, typer.Option(help="Folder with datasets; default: $CHEBNET2D_DATA.")]


@takes_own_graph
def precompute(
    out: Annotated[Path, typer.Option(help="Folder for the bases.")],
    dataset: Annotated[str, typer.Argument(help="Name of a dataset, or a folder or file with your own graph.")] = "",
    degree: Annotated[int, typer.Option(help="Degree D: terms 0 to D are kept.")] = 10,
    basis: Annotated[str, typer.Option(help="chebyshev, monomial, legendre, jacobi, bernstein or orthonormal.")] = "chebyshev",
    operator: Annotated[str, typer.Option(help="L_hat, P or P~ (with self loops).")] = "L_hat",
    dtype: Annotated[str, typer.Option(help="Of the files: float32 or float16.")] = "float32",
    rows: Annotated[str, typer.Option(help="Nodes to keep: labelled or all.")] = "labelled",
    memory: Annotated[str | None, typer.Option(help="Limit, as 8GiB; default: half of what is free.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster that shares the disk, or 'auto'.")] = None,
    json: Json = False,
    data_root: DataRoot = None,
    own: Any = None,
) -> None:
    """Compute the polynomial bases of a graph once, for training in mini batches. Run it again if it was interrupted.

    Example: chebnet2d precompute ogbn-arxiv --degree 10 --out arxiv-bases --memory 4GiB
    """
    import time

    from chebnet2d import bases
    from chebnet2d._checks import InputError
    from chebnet2d.bases.sizes import show_bytes
    from chebnet2d.cli.console import cluster_news, print_json, say
    from chebnet2d.cli.graphs import read_data
    from chebnet2d.cluster import RayExecutor

    if memory is not None:
        bases.parse_bytes(memory, "precompute")  # before the graph is read
    if ray is not None and device != "cpu":
        raise InputError("precompute", "--device", "cpu beside --ray, whose nodes compute on their processors", device)
    data = read_data("precompute", dataset, data_root, own)
    start = time.perf_counter()
    data.edge_index = bases.large_operator(data.edge_index, data.num_nodes, operator, data.get("edge_weight"))
    data.edge_weight = None  # the list of edges is not needed any more, and may be larger than the operator
    say(f"{data.name}: {data.num_nodes} nodes, {data.edge_index.nnz} entries, {data.num_features} features", quiet=json)
    options: dict[str, Any] = {"basis": basis, "degree": degree, "operator": operator, "dtype": dtype, "rows": rows}
    executor = None if ray is None else RayExecutor(ray)
    with _bar(quiet=json) as report, nullcontext() if ray is None else cluster_news():
        made = bases.precompute(data, out=out, memory=memory, device=device, executor=executor, progress=report, **options)
    seconds = time.perf_counter() - start
    say(f"{made}: {show_bytes(made.nbytes)} in {out}, {seconds:.1f} s", quiet=json)
    if json:
        from dataclasses import asdict

        print_json({**asdict(made.manifest), "out": str(out), "bytes": made.nbytes, "seconds": round(seconds, 3)})


def train_bases(
    folder: Annotated[Path, typer.Argument(help="Folder written by: chebnet2d precompute.")],
    method: Annotated[str, typer.Option(help="chebnet2d, chebnetii, optbasis, gprgnn, jacobiconv or specgn.")] = "chebnet2d",
    reading: Annotated[str, typer.Option(help="filter-first: MLP(sum P_d W_d). each-basis: sum MLP(P_d) W_d.")] = "filter-first",
    maps: Annotated[
        str, typer.Option(help="Of filter-first: F x H (hidden), F x F (features), the smaller one (auto).")
    ] = "auto",
    hidden: Annotated[int, typer.Option(help="Hidden units of the MLP.")] = 64,
    layers: Annotated[int, typer.Option(help="Linear layers of the MLP.")] = 2,
    dropout: Annotated[float, typer.Option(help="Dropout rate of the MLP.")] = 0.5,
    lr: Annotated[float, typer.Option(help="Learning rate of the MLP.")] = 0.01,
    filter_lr: Annotated[float | None, typer.Option(help="Learning rate of the filter; default: --lr.")] = None,
    weight_decay: Annotated[float, typer.Option(help="Weight decay of the MLP.")] = 5e-4,
    filter_weight_decay: Annotated[float | None, typer.Option(help="Weight decay of the filter; default: as the MLP.")] = None,
    batch_size: Annotated[int, typer.Option(help="Rows of a batch, of all processes together.")] = 10_000,
    split: Annotated[str, typer.Option(help="fixed (stored with the bases), uniform, ...")] = "fixed",
    seed: Annotated[int, typer.Option(help="Seed of the split, the initial parameters and dropout.")] = 0,
    epochs: Annotated[int, typer.Option(help="At most this many epochs.")] = 1000,
    patience: Annotated[int, typer.Option(help="Stop after this many epochs without improvement.")] = 300,
    monitor: Annotated[str, typer.Option(help="What improves: validation accuracy or loss.")] = "accuracy",
    memory: Annotated[str | None, typer.Option(help="Hold the training rows in memory up to this size.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    json: Json = False,
) -> None:
    """Train on precomputed bases. Under torchrun, several processes share each batch.

    Example: chebnet2d train-bases arxiv-bases --hidden 512 --layers 3 --epochs 50

    Example: torchrun --nproc-per-node 2 -m chebnet2d train-bases arxiv-bases
    """
    from chebnet2d.bases import Bases
    from chebnet2d.cli.console import print_json, say, training_progress
    from chebnet2d.training import Batches, Settings, fit, process_group, stored_split, under_torchrun
    from chebnet2d.training.basis_models import on_bases

    settings: dict[str, Any] = {
        "lr": lr,
        "weight_decay": weight_decay,
        "filter_lr": filter_lr,
        "filter_weight_decay": filter_weight_decay,
        "epochs": epochs,
        "patience": patience,
        "monitor": monitor,
    }
    Settings.of(**settings)
    bases = Bases.open(folder)
    options: dict[str, Any] = {"maps": maps} if reading == "filter-first" else {}
    model = on_bases(method, bases, reading=reading, hidden_channels=hidden, num_layers=layers, dropout=dropout, **options)
    chosen = stored_split(bases, split, seed)
    several = under_torchrun()
    with process_group(device) if several else nullcontext():
        import torch.distributed as dist

        first = not several or dist.get_rank() == 0
        quiet = json or not first
        parameters = sum(p.numel() for p in model.parameters())
        say(f"{bases}", quiet=quiet)
        say(f"{method}, {reading}: {parameters} parameters; split: {chosen}", quiet=quiet)
        with training_progress(quiet=quiet) as report:
            batches = Batches(batch_size, memory=memory)
            result = fit(model, bases, chosen, seed, batches=batches, device=device, progress=report, **settings)
        if not first:
            return
    say(
        f"validation {result.metric} {result.val_metric:.4f} at epoch {result.best_epoch} of {result.epochs}, "
        f"{result.seconds / result.epochs:.3g} s an epoch",
        quiet=json,
    )
    if result.test.get("roc_auc") is not None:
        say(f"test ROC-AUC {100 * result.test['roc_auc']:.2f} %", quiet=json)
    say(f"test accuracy {100 * result.test.get('accuracy', 0.0):.2f} %  (split {chosen.name}, seed {seed})", quiet=json)
    if json:
        record: dict[str, Any] = {
            "bases": str(folder),
            "method": method,
            "reading": reading,
            "parameters": parameters,
            "split": chosen.to_dict(),
            "seed": seed,
            "metric": result.metric,
            "val_metric": result.val_metric,
            "val_loss": result.val_loss,
            "test_accuracy": result.test.get("accuracy"),
            "test_roc_auc": result.test.get("roc_auc"),
            "best_epoch": result.best_epoch,
            "epochs": result.epochs,
            "seconds": round(result.seconds, 3),
        }
        print_json(record)


def generate(
    like: Annotated[str, typer.Option(help="ogbn-arxiv, ogbn-products, penn94, genius or twitch-gamers.")],
    scale: Annotated[float, typer.Option(help="Part of the nodes and edges, for trials.")] = 1.0,
    model: Annotated[str, typer.Option(help="power-law or csbm.")] = "power-law",
    seed: Annotated[int, typer.Option(help="Seed of the graph.")] = 0,
    json: Json = False,
    data_root: DataRoot = None,
) -> None:
    """Write a random graph with the size of a large dataset, in its raw format: the real one is not downloaded.

    Example: chebnet2d data generate --like ogbn-products --data-root generated
    """
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.data.generated import generate as write
    from chebnet2d.data.generated import shape_of

    shape = shape_of(like, scale)
    folder = write(like, data_root, scale=scale, model=model, seed=seed, progress=lambda text: say(text, quiet=json))
    say(
        f"a random graph like {shape.like} with {shape.nodes} nodes, {shape.edges} edges, {shape.features} features and "
        f"{shape.classes} classes in {folder}",
        quiet=json,
    )
    if json:
        from dataclasses import asdict

        print_json({**asdict(shape), "folder": str(folder), "scale": scale, "model": model, "seed": seed})


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """A progress bar on stderr; nothing when stderr is not a terminal or ``quiet``."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("bases"), BarColumn(), TextColumn("{task.percentage:.0f} %, block {task.fields[block]}"))
    with Progress(
        *columns, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task("bases", total=None, block="")

        def report(progress: Any) -> None:
            bar.update(task, total=progress.total, completed=progress.done, block=f"{progress.block + 1} of {progress.blocks}")

        yield report
