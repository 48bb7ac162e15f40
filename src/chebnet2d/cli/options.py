"""Flags that commands share, each declared once: alone as an annotated type, or in a dataclass of those that go together.

A field has the name of the library's argument, and the flag says what users type.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli.flags import Also

_BATCHES = "Mini batches of nodes (see docs/large-graphs.md)"
_OWN_GRAPH = "Your own graph (see docs/own-graph.md)"

_METHOD = "name, name:variant, my_file.py:MyModel or package.module:MyModel; see: chebnet2d models."

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
DataRoot = Annotated[Path | None, typer.Option(help="Folder with datasets; default: $CHEBNET2D_DATA."), Also("root")]
Dataset = Annotated[
    str, typer.Argument(help="Name of a dataset, or a folder or file with your own graph."), Also("name", "read_graph.path")
]
DatasetName = Annotated[str, typer.Argument(help="Name of a dataset; see: chebnet2d data list.")]
ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a saved model."), Also("load.path")]
StoreFile = Annotated[Path, typer.Option("--store", help="File of the study (SQLite)."), Also("Store.path")]
StudyRuns = Annotated[
    Path,
    typer.Option("--store", help="File of the study (SQLite), or what study export wrote of it (.parquet, .json)."),
    Also("Store.path", "study.reuse"),
]
Ray = Annotated[
    str | None, typer.Option(help="Address of a Ray cluster with the same disk or datasets, or 'auto'."), Also("address")
]
Workers = Annotated[int | None, typer.Option(help="Processes on this machine; by default as many as torch has threads.")]
Method = Annotated[
    str,
    typer.Option(help=_METHOD),
    Also("find_model.name"),
]
MethodOrBest = Annotated[
    str | None,
    typer.Option(help=f"{_METHOD} Default: chebnet2d; for your own graph, without settings, the best of a few by validation."),
    Also("find_model.name"),
]
OutsideMethod = Annotated[
    str | None,
    typer.Option("--method", help=_METHOD),
    Also("load.method"),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Settings from a preset file; 'shipped': what the package's studies chose for the dataset, else published (train's "
        "default where there are any); 'published': those alone; 'none': the method's defaults."
    ),
    Also("load_recipe.path"),
]
Transform = Annotated[
    str | None, typer.Option(help="none, row-normalize or standardize (features), largest-component (default: none).")
]
Hidden = Annotated[int | None, typer.Option("--hidden", help="Hidden units of the MLP (default: 64)."), Also("out_channels")]
DropoutRate = Annotated[float | None, typer.Option(help="Dropout before each linear layer (default: 0.5)."), Also("p")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there, whoever wrote it.")]
Reference = Annotated[
    str | None,
    typer.Option(help="Compare this method with every other: tests, and probabilities that it is better."),
    Also("compare_with.reference"),
]
Methods = Annotated[str | None, typer.Option(help="Methods, separated by commas; each as in train --method.")]
Budget = Annotated[str, typer.Option(help="Time like 90s, 10m or 2h, or a number of trials.")]
Save = Annotated[Path | None, typer.Option(help="Write the trained model to this folder.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Split = Annotated[str, typer.Option(help="Kind of split: uniform, balanced, fixed, ..."), Also("kind")]
UsualSplit = Annotated[
    str | None,
    typer.Option(
        help="Kind of split: uniform (default), stratified (default for your own graph), fixed (if it has a split column), "
        "k-fold, time, group, balanced, ..."
    ),
    Also("kind"),
]
Epochs = Annotated[int | None, typer.Option(help="At most this many epochs (default: 2000; train-bases: 1000; table 4: 20).")]
Patience = Annotated[
    int | None, typer.Option(help="Stop after this many epochs without improvement (default: 200; train-bases: 300).")
]
Monitor = Annotated[str | None, typer.Option(help="What improves: validation accuracy (default) or loss.")]
DEFAULT_STORE = Path("runs/study.sqlite")


@dataclass(frozen=True)
class StoppingOptions:
    epochs: Epochs = None
    patience: Patience = None
    monitor: Monitor = None


@dataclass(frozen=True)
class TrainingOptions(StoppingOptions):
    """Arguments of ``Settings.of``."""

    lr: Annotated[float | None, typer.Option(help="Learning rate of the MLP (default: 0.01).")] = None
    filter_lr: Annotated[float | None, typer.Option(help="Learning rate of the filter (default: as --lr).")] = None
    weight_decay: Annotated[float | None, typer.Option(help="Weight decay of the MLP (default: 5e-4).")] = None
    filter_weight_decay: Annotated[float | None, typer.Option(help="Weight decay of the filter (default: as the MLP).")] = None


@dataclass(frozen=True)
class RecipeOptions:
    """``method``: None for the package's own, or, where nothing else is typed, for what validation nodes choose."""

    method: MethodOrBest = None
    preset: Preset = None
    transform: Transform = None

    def is_open(self, settings: Any, model: Any) -> bool:
        """Whether a method may be chosen: nothing is typed that holds for one alone."""
        stopping = {field.name for field in fields(StoppingOptions)}
        return self.method is None and self.preset is None and not typed(model) and typed(settings).keys() <= stopping

    def recipe(self, dataset: str, settings: Any, model: Any = None, *, own: bool = False) -> Any:
        """The preset, with what was typed in its place. Without one: what is known of the dataset, else the class's defaults.
        For an ``own`` graph those that ``auto`` begins with: of some methods the class is that of the paper, and its defaults are
        poor."""
        from dataclasses import replace

        from chebnet2d.recipes import DEFAULT, Recipe, change_recipe, known_recipe, load_recipe

        method, preset = self.method or "chebnet2d", self.preset
        if preset is None and own:
            base = replace(load_recipe(method, DEFAULT), dataset=dataset)
        elif preset is None:
            base = known_recipe(method, dataset) or Recipe(method, dataset=dataset)
        elif preset == "none":
            base = Recipe(method, dataset=dataset)
        elif preset == "shipped":
            base = known_recipe(method, dataset) or load_recipe(method, dataset)
        else:
            base = load_recipe(method, dataset, None if preset == "published" else Path(preset))
        return change_recipe(base, model=model and typed(model), settings=typed(settings), transform=self.transform)


@dataclass(frozen=True)
class ModelOptions:
    """Arguments of a method."""

    degree: Annotated[int | None, typer.Option(help="Degree D of the polynomial filters (default: 10).")] = None
    hidden_channels: Hidden = None
    dropout: DropoutRate = None
    filter_dropout: Annotated[float | None, typer.Option(help="Dropout before the filter (default: 0)."), Also("p")] = None
    rank: Annotated[int | None, typer.Option(help="Rank r of the convolution; default: the full 2-D convolution.")] = None
    init: Annotated[str | None, typer.Option(help="Start of the filters: identity or xavier (default: identity).")] = None
    scaling: Annotated[str | None, typer.Option(help="interpolation, coefficients or paper (default: interpolation).")] = None
    inputs: Annotated[str | None, typer.Option(help="Of boosting and logistic: features, neighbours (default) or labels.")] = None


@dataclass(frozen=True)
class RunOptions:
    split: UsualSplit = None
    seed: Annotated[int, typer.Option(help="Seed of the split, the initial parameters and dropout.")] = 0
    device: Device = "cpu"


_METRICS = "accuracy, balanced_accuracy, f1_macro, f1, roc_auc, roc_auc_ovr, average_precision, neg_log_loss"
Metric = Annotated[str | None, typer.Option(help=f"What epochs are compared by: {_METRICS} (default: the dataset's own).")]


ClassWeight = Annotated[
    str | None, typer.Option(help="balanced: classes weigh the same in the loss, however small (default: none).")
]


@dataclass(frozen=True)
class JudgedRunOptions(RunOptions):
    metric: Metric = None
    class_weight: ClassWeight = None


Memory = Annotated[str | None, typer.Option(help="What the process may hold at most, as 8GiB; default: what is free.")]


@dataclass(frozen=True)
class BatchOptions:
    """Arguments of ``Batches``, and whether a graph is trained on by bases on disk."""

    batch_size: Annotated[
        int | None,
        typer.Option(help="Nodes of a mini batch; default: all nodes at once.", rich_help_panel=_BATCHES),
        Also("size", "batches.size"),
    ] = None
    sampling: Annotated[
        str | None,
        typer.Option(help="rows, induced, induced-train or neighbours; default: the method's own.", rich_help_panel=_BATCHES),
    ] = None
    neighbours: Annotated[
        int | None,
        typer.Option(help="Of sampling neighbours: how many of a node for each layer (default: 10).", rich_help_panel=_BATCHES),
    ] = None
    evaluation: Annotated[
        str | None, typer.Option(help="Of induced batches: whole (default) or parts.", rich_help_panel=_BATCHES)
    ] = None
    evaluate_every: Annotated[
        int | None, typer.Option(help="Epochs between two looks at the validation nodes (default: 1).", rich_help_panel=_BATCHES)
    ] = None

    bases: Annotated[
        str,
        typer.Option(
            help="Bases on disk instead of the whole graph: auto (where that is better), never, or a folder for them.",
            rich_help_panel=_BATCHES,
        ),
    ] = "auto"
    memory: Memory = None

    def batches(self, method: str) -> Any:
        """``Batches`` as asked for; None for the whole graph at once. What a method cannot do is told before a graph is read."""
        from dataclasses import replace

        from chebnet2d._checks import InputError
        from chebnet2d.models import find_model
        from chebnet2d.training import Batches, sampling_of

        given = {name: value for name, value in typed(self).items() if name not in ("bases", "memory")}
        if self.batch_size is None:
            for name in given:
                raise InputError("train", name, "with --batch-size", got="it without", verb="come")
            return None
        asked = Batches(given.pop("batch_size"), **given)
        return replace(asked, sampling=sampling_of(find_model(method), asked.sampling))


@dataclass(frozen=True)
class ClusterOptions:
    ray: Ray = None
    log: Annotated[Path | None, typer.Option(help="Append a line for all that is finished to this file.")] = None


def _graph(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_OWN_GRAPH)


@dataclass(frozen=True)
class GraphOptions:
    """Arguments of ``read_graph``."""

    edges: Annotated[Path | None, _graph(help="Edge list: CSV, TSV or Parquet.")] = None
    features: Annotated[str | None, _graph(help="Features: CSV, TSV, Parquet, npy, npz; or 'degree' or 'identity'.")] = None
    labels: Annotated[Path | None, _graph(help="Labels: CSV, TSV or Parquet.")] = None
    source: Annotated[str | None, _graph("--source-column", help="Column of the edges' first end.")] = None
    target: Annotated[str | None, _graph("--target-column", help="Column of the edges' second end.")] = None
    weight: Annotated[str | None, _graph("--weight-column", help="Column of the edges' weights.")] = None
    node_id: Annotated[str | None, _graph("--id-column", help="Column of the node ids.")] = None
    label: Annotated[str | None, _graph("--label-column", help="Column of the labels.")] = None
    split_column: Annotated[str | None, _graph(help="Column with the part of each node: train, val, test.")] = None
    time_column: Annotated[str | None, _graph(help="Column for --split time: the latest nodes are the test nodes.")] = None
    group_column: Annotated[str | None, _graph(help="Column for --split group: no group is in two parts.")] = None
    preprocess: Annotated[str, _graph(help="Features: auto (all kinds of columns), standard, quantile, or none.")] = "auto"
    missing_features: Annotated[str, _graph(help="With --preprocess none, missing values: error, zero or mean.")] = "error"
    categorical: Annotated[str, _graph(help="With --preprocess none, columns of words: error or one-hot.")] = "error"
    ignore: Annotated[list[str] | None, _graph("--ignore-column", help="Column of the features to leave out.")] = None
    unlabelled: Annotated[str | None, _graph(help="A label that means none.")] = None
    header: Annotated[bool | None, _graph("--header/--no-header", help="Whether files begin with names, where in doubt.")] = None


def typed(options: Any) -> dict[str, Any]:
    """The fields that are not as they are by default, by name."""
    values = ((field, getattr(options, field.name)) for field in fields(options))
    return {field.name: value for field, value in values if value != field.default and value != []}


def as_many_as_threads(owner: str, workers: int | None, ray: str | None) -> int:
    """How many processes, where none are asked for: on two cores two of them take four fifths of the time of two threads, which
    wait for the interpreter and stragglers."""
    import torch

    from chebnet2d._checks import InputError, integer

    if ray is not None and workers is not None and workers > 1:
        raise InputError(owner, "workers", "1 beside --ray, which has the processes of a cluster", got=str(workers))
    return torch.get_num_threads() if workers is None else integer(owner, "workers", workers, 1)


def executor_of(ray: str | None, workers: int = 1) -> Any:
    """Where tasks run: on a cluster, in processes of this machine, or here."""
    from chebnet2d.cluster import LocalExecutor, ProcessExecutor, RayExecutor

    if ray is not None:
        return RayExecutor(ray)
    return LocalExecutor() if workers == 1 else ProcessExecutor(workers)
