"""Table 4: time per epoch, time in all, peak memory and parameters of ChebNet2D, ChebNetII and OptBasis on large graphs.

Accuracies do not matter here, so graphs of the right size serve as well: where a dataset is not below the data root, one like it
is generated. Each line is measured in a process of its own, so that its peak memory is its own.

As in the paper's timings, ogbn graphs are trained on precomputed bases in mini batches, the others in full batches.
"""

import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d._checks import integer, one_of
from chebnet2d.bases import large_operator, precompute
from chebnet2d.cluster import ProcessExecutor
from chebnet2d.data import available, find_entry, load, split
from chebnet2d.data.generated import GENERATED, LIKE, generate, generated_facts
from chebnet2d.recipes import Recipe
from chebnet2d.reports.tables import published_numbers
from chebnet2d.training import Result, stored_split

METHODS = ("chebnet2d", "chebnetii", "optbasis")
DATASETS = ("ogbn-arxiv", "penn94", "genius", "twitch-gamers", "ogbn-products")
ON_BASES = ("ogbn-arxiv", "ogbn-products")
_HIDDEN = {"ogbn-arxiv": 512, "ogbn-products": 512, "penn94": 64, "genius": 64, "twitch-gamers": 64}


@dataclass(frozen=True)
class Timing:
    """One line. ``reading``: "filter-first" on bases, or "full-batch". ``generated``: a random graph of that size.

    ``precompute_seconds`` and its peak belong to the bases, which the methods on Chebyshev bases share.
    """

    dataset: str
    method: str
    reading: str
    generated: bool
    nodes: int
    edges: int
    epochs: int
    epoch_seconds: float
    total_seconds: float
    precompute_seconds: float | None
    peak_mib: float
    parameters: int
    val_metric: float


def table4(
    folder: str | Path,
    *,
    datasets: Sequence[str] = DATASETS,
    methods: Sequence[str] = METHODS,
    epochs: int = 50,
    scale: float = 1.0,
    root: Path | None = None,
    done: Callable[[Timing], None] | None = None,
) -> list[Timing]:
    """Measure every method on every dataset, one after the other.

    Args:
        folder: for generated graphs and bases; they stay there, and the next call uses them.
        epochs: of each training (ogbn-products: one is enough to see the time of an epoch). Generated, that graph and its bases
            take 25 GiB of disk.
        scale: part of the nodes and edges of generated graphs.
    """
    integer("table4", "epochs", epochs, 1)
    for method in methods:
        one_of("table4", "methods", method, METHODS)
    for dataset in datasets:
        one_of("table4", "datasets", dataset, LIKE)
    folder = Path(folder)
    here = set(available(root)) if root is not None else set()
    lines = []
    for dataset in datasets:
        source = root if dataset in here else folder / "data"
        if dataset not in here and generated_facts(find_entry(dataset), Path(source or "")) is None:
            generate(dataset, source, scale=scale)
        for method in methods:
            arguments = (dataset, method, Path(source or ""), folder, 1 if dataset == "ogbn-products" else epochs)
            ((_, line),) = ProcessExecutor(1).run(_measure, [(f"{method} on {dataset}", arguments)])  # a new process each time
            lines.append(line)
            if done is not None:
                done(line)
    return lines


def format_timings(lines: Sequence[Timing]) -> str:
    """Markdown, one line per measurement. Machines differ, so the paper's times stand beside ours as ratios to ChebNetII's."""
    head = (
        *("dataset", "method", "reading", "s per epoch", "times ChebNetII", "the paper's"),
        *("s in all", "s of bases", "peak MiB", "parameters", "epochs"),
    )
    ours = {(line.method, line.dataset): line.epoch_seconds for line in lines}
    theirs = {(m, dataset): t for m, row in published_numbers()["4"].items() for dataset, t in row.items()}
    rows = [
        (
            line.dataset + (GENERATED if line.generated else ""),
            line.method,
            line.reading,
            f"{line.epoch_seconds:.3g}",
            _ratio(ours, line),
            _ratio(theirs, line),
            f"{line.total_seconds:.3g}",
            "" if line.precompute_seconds is None else f"{line.precompute_seconds:.3g}",
            f"{line.peak_mib:.0f}",
            str(line.parameters),
            str(line.epochs),
        )
        for line in lines
    ]
    shown = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(row) + " |\n" for row in shown)


def _ratio(seconds: Mapping[tuple[str, str], float], line: Timing) -> str:
    reference = seconds.get(("chebnetii", line.dataset))
    return "" if reference is None else f"{seconds[line.method, line.dataset] / reference:.2f}"


def _measure(_: None, dataset: str, method: str, root: Path, folder: Path, epochs: int) -> Timing:
    data = load(dataset, root)
    facts: dict[str, Any] = {
        "dataset": dataset,
        "method": method,
        "generated": bool(data.get("generated")),
        "nodes": data.num_nodes,
        "edges": data.edge_index.shape[1] // 2,
    }
    data.name = dataset  # the key of settings and of bases on disk
    trained = _on_bases if dataset in ON_BASES else _full_batch
    result, spent, reading = trained(data, method, folder, epochs)
    return Timing(
        **facts,
        reading=reading,
        epochs=result.epochs,
        epoch_seconds=result.seconds / result.epochs,
        total_seconds=result.seconds,
        precompute_seconds=spent,
        peak_mib=_peak_mib(),
        parameters=result.parameters,
        val_metric=result.val_metric,
    )


def _on_bases(data: Any, method: str, folder: Path, epochs: int) -> tuple[Result, float | None, str]:
    basis = "orthonormal" if method == "optbasis" else "chebyshev"
    out = folder / "bases" / f"{data.name}-{basis}"
    known = (out / "manifest.json").is_file()
    start = time.perf_counter()
    data.edge_index = large_operator(data.edge_index, data.num_nodes)
    bases = precompute(data, out=out, basis=basis, degree=10)
    spent = None if known else time.perf_counter() - start
    del data
    shape = {"hidden_channels": _HIDDEN.get(bases.manifest.name, 512), "num_layers": 3, "maps": "features"}
    recipe = Recipe(method, model=shape, settings={"lr": 1e-3})
    return recipe.train(bases, stored_split(bases), epochs=epochs, patience=epochs), spent, "filter-first"


def _full_batch(data: Any, method: str, _folder: Path, epochs: int) -> tuple[Result, float | None, str]:
    recipe = Recipe(method, model={"hidden_channels": _HIDDEN[data.name], "degree": 10})
    return recipe.train(data, split(data, "fixed", seed=0), epochs=epochs, patience=epochs), None, "full-batch"


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (2**20 if sys.platform == "darwin" else 2**10)
