"""Table 4: time per epoch, time in all, peak memory and parameters of ChebNet2D, ChebNetII, OptBasis and GPRGNN on large graphs.

Accuracies do not matter here, so graphs of the right size serve as well: where a dataset is not below the data root, one like it
is generated. Each line is measured in a process of its own, so that its peak memory is its own.

As in the paper's timings, ogbn graphs are trained on precomputed bases in mini batches, the others in full batches.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d._checks import integer, one_of
from chebnet2d._sizes import peak_bytes
from chebnet2d.bases import large_operator, precompute
from chebnet2d.cluster import ProcessExecutor
from chebnet2d.data import available, find_entry, load, split
from chebnet2d.data.generated import GENERATED, LIKE, generate, generated_facts
from chebnet2d.polynomials import get_basis
from chebnet2d.recipes import Recipe
from chebnet2d.reports.markdown import markdown_lines
from chebnet2d.reports.tables import published_numbers
from chebnet2d.training import stored_split

METHODS = ("chebnet2d", "chebnetii", "optbasis", "gprgnn")
DATASETS = ("ogbn-arxiv", "penn94", "genius", "twitch-gamers", "roman-empire", "amazon-ratings", "ogbn-products")
ON_BASES = ("ogbn-arxiv", "ogbn-products")


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
    epochs: int
    epoch_seconds: float
    total_seconds: float
    precompute_seconds: float | None
    peak_mib: float
    parameters: int


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
    lines = []
    for dataset in datasets:
        source = root if root is not None and dataset in available(root) else folder / "data"
        if source is not root and generated_facts(find_entry(dataset), source) is None:
            generate(dataset, source, scale=scale)
        for method in methods:
            arguments = (dataset, method, source, folder, 1 if dataset == "ogbn-products" else epochs)
            ((_, line),) = ProcessExecutor(1).run(_measure, [(f"{method} on {dataset}", arguments)])  # a new process each time
            lines.append(line)
            if done is not None:
                done(line)
    return lines


def format_timings(lines: Sequence[Timing]) -> str:
    """Markdown, one line per measurement. Machines differ, so the paper's times stand beside ours as ratios to ChebNetII's."""
    ours = {(line.method, line.dataset): line.epoch_seconds for line in lines}
    theirs = {(m, dataset): t for m, row in published_numbers()["4"].items() for dataset, t in row.items()}
    grid = ["dataset|method|reading|s per epoch|times ChebNetII|the paper's|s in all|s of bases|peak MiB|parameters|epochs"]
    for line in lines:
        bases = "" if line.precompute_seconds is None else f"{line.precompute_seconds:.3g}"
        grid.append(
            f"{line.dataset}{GENERATED if line.generated else ''}|{line.method}|{line.reading}|{line.epoch_seconds:.3g}|"
            f"{_ratio(ours, line)}|{_ratio(theirs, line)}|{line.total_seconds:.3g}|{bases}|{line.peak_mib:.0f}|"
            f"{line.parameters}|{line.epochs}"
        )
    return "\n".join(markdown_lines([row.split("|") for row in grid])) + "\n"


def _ratio(seconds: Mapping[tuple[str, str], float], line: Timing) -> str:
    reference, own = seconds.get(("chebnetii", line.dataset)), seconds.get((line.method, line.dataset))
    return "" if reference is None or own is None else f"{own / reference:.2f}"


def _measure(_: None, dataset: str, method: str, root: Path, folder: Path, epochs: int) -> Timing:
    data: Any = load(dataset, root)
    generated, nodes, spent, limits = bool(data.get("generated")), data.num_nodes, None, {"epochs": epochs, "patience": epochs}
    data.name = dataset  # the key of bases on disk
    if dataset in ON_BASES:
        layers = {"hidden_channels": 512, "num_layers": 3, "maps": "features"}
        recipe = Recipe(method, model={"degree": 10, **layers}, settings={"lr": 1e-3})
        spec = recipe.bases_spec(data.num_features)
        out = folder / "bases" / f"{dataset}-{get_basis(spec.basis).name}-{spec.operator}"
        known, start = (out / "manifest.json").is_file(), time.perf_counter()
        data.edge_index = large_operator(data.edge_index, nodes, spec.operator)
        data = precompute(data, out=out, spec=spec)  # the graph is not needed any more
        spent = None if known else time.perf_counter() - start
        result = recipe.train(data, stored_split(data), **limits)
    else:
        recipe = Recipe(method, model={"hidden_channels": 64, "degree": 10})
        result = recipe.train(data, split(data, "fixed", seed=0), **limits)
    facts: dict[str, Any] = {"precompute_seconds": spent, "peak_mib": peak_mib(), "parameters": result.parameters}
    facts |= {"epochs": result.epochs, "epoch_seconds": result.seconds / result.epochs, "total_seconds": result.seconds}
    return Timing(dataset, method, "filter-first" if dataset in ON_BASES else "full-batch", generated, nodes, **facts)


def peak_mib() -> float:
    return peak_bytes() / 2**20
