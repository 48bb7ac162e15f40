"""Large graphs on a laptop: bases on disk against scipy, epochs of training on them, and how both grow with the graph.

    python benchmarks/large.py generate ogbn-products --root ROOT        a random graph of that size, in its raw format
    python benchmarks/large.py precompute ogbn-products --root ROOT --out DIR [--memory 8GiB]
    python benchmarks/large.py product ogbn-products --root ROOT         one sparse product: ours, torch's, scipy's
    python benchmarks/large.py epochs DIR                                one training epoch of ChebNet2D and of ChebNetII
    python benchmarks/large.py train DIR --epochs 50                     training with validation, as a user runs it
    python benchmarks/large.py methods DATASET ... --root ROOT           an epoch of the methods that need the graph
    python benchmarks/large.py scaling --out DIR [--plot FILE]           precompute against edges: 1, 4, 16 and 64 million
    python benchmarks/large.py reorder ogbn-products --root ROOT         whether an order of the nodes pays
    python benchmarks/large.py layout --out DIR                          files by tiles, by rows and by degrees

Every command prints its figures and adds them to the file given by --json. Peak memory is the maximum resident size that the
kernel keeps, of a process that does nothing else.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import chebnet2d
from chebnet2d.bases import Bases, large_operator, precompute
from chebnet2d.bases.recurrence import large_step
from chebnet2d.graph import SparseOperator

DEGREE = 10


def peak_gib() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**20
    raise RuntimeError("no VmHWM")


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def busy_seconds() -> tuple[float, float]:
    """CPU seconds of the whole machine since it started, and of this process and its children."""
    numbers = [int(text) for text in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    own = os.times()
    return (sum(numbers[:3]) + sum(numbers[5:8])) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


STARTED = (time.perf_counter(), *busy_seconds())


def others() -> float:
    """Cores that other processes kept busy, on average, while this one ran: a figure with much of it is not to be trusted."""
    machine, own = busy_seconds()
    return max(0.0, (machine - STARTED[1]) - (own - STARTED[2])) / (time.perf_counter() - STARTED[0])


def record(arguments: argparse.Namespace, name: str, figures: dict[str, Any]) -> None:
    figures = {"command": name, "threads": torch.get_num_threads(), "cores_of_others": round(others(), 2), **figures}
    print(json.dumps(figures, indent=1), flush=True)
    if arguments.json:
        known = json.loads(arguments.json.read_text()) if arguments.json.is_file() else []
        arguments.json.write_text(json.dumps([*known, figures], indent=1))


def median(step: Any, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def product_seconds(operator: SparseOperator, width: int, repeats: int) -> dict[str, float]:
    """Medians for one product with N x width: ours, torch's sparse product and scipy's, in turn; and the largest difference."""
    x = torch.randn(operator.shape[0], width)
    out = torch.zeros_like(x)
    matrix = operator.to_scipy()
    array = x.numpy()
    ways = {
        "product_seconds": lambda: large_step(operator, x, out),
        "torch_seconds": lambda: operator.step(x, out, alpha=1.0, beta=0.0, out=out),
        "scipy_seconds": lambda: matrix @ array,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    figures = {name: float(np.median(seconds)) for name, seconds in times.items()}
    figures["scipy_over_ours"] = figures["scipy_seconds"] / figures["product_seconds"]
    figures["difference"] = float(np.abs(large_step(operator, x, out).numpy() - matrix @ array).max())
    return figures


# ---- commands --------------------------------------------------------------------------------------------------------


def generate(arguments: argparse.Namespace) -> None:
    from chebnet2d.data.generated import generate as write

    start = time.perf_counter()
    folder = write(
        arguments.like,
        arguments.root,
        scale=arguments.scale,
        model=arguments.model,
        progress=lambda text: print(text, flush=True),
    )
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    seconds = time.perf_counter() - start
    written = {"like": arguments.like, "seconds": seconds, "bytes": size, "peak_gib": peak_gib()}
    start = time.perf_counter()
    data = chebnet2d.data.load(arguments.like, arguments.root)
    counts = {"nodes": data.num_nodes, "edges": data.num_edges // 2, "load_seconds": time.perf_counter() - start}
    record(arguments, "generate", {**written, **counts, "load_peak_gib": peak_gib()})


def run_precompute(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    data = chebnet2d.data.load(arguments.dataset, arguments.root)
    loaded = time.perf_counter()
    data.edge_index = large_operator(data.edge_index, data.num_nodes)
    built = time.perf_counter()
    made = precompute(
        data,
        out=arguments.out,
        degree=DEGREE,
        dtype=arguments.dtype,
        rows=arguments.rows,
        memory=arguments.memory,
        block=arguments.block,
    )
    done = time.perf_counter()
    figures = {
        "dataset": arguments.dataset,
        "nodes": made.num_nodes,
        "entries": data.edge_index.nnz,
        "features": made.num_features,
        "degree": DEGREE,
        "dtype": arguments.dtype,
        "memory": arguments.memory,
        "blocks": made.plan.blocks,
        "load_seconds": loaded - start,
        "operator_seconds": built - loaded,
        "precompute_seconds": done - built,
        "gib_written": made.nbytes / 2**30,
        "peak_gib": peak_gib(),
    }
    width = max(b - a for a, b in made.plan.blocks)
    figures |= {"width": width, **product_seconds(data.edge_index, width, arguments.repeats)}
    record(arguments, "precompute", figures)


def product(arguments: argparse.Namespace) -> None:
    data = chebnet2d.data.load(arguments.dataset, arguments.root)
    operator = large_operator(data.edge_index, data.num_nodes)
    del data
    for width in arguments.widths:
        record(
            arguments,
            "product",
            {"dataset": arguments.dataset, "width": width, **product_seconds(operator, width, arguments.repeats)},
        )


def epochs(arguments: argparse.Namespace) -> None:
    """Training epochs alone, methods in turn: gather, forward, backward, Adam."""
    from chebnet2d.training.batch_loop import StackLearner
    from chebnet2d.training.minibatch import Task, stored_split

    from chebnet2d.training import Run, Settings
    from chebnet2d.training.basis_models import on_bases

    bases = Bases.open(arguments.folder)
    split = stored_split(bases)
    shape: dict[str, Any] = {"hidden_channels": arguments.hidden, "num_layers": arguments.layers, "dropout": 0.5}
    models = {
        "chebnetii": on_bases("chebnetii", bases, **shape),
        "chebnet2d, F x F maps": on_bases("chebnet2d", bases, maps="features", **shape),
        "chebnet2d, F x H maps": on_bases("chebnet2d", bases, maps="hidden", **shape),
    }
    figures: dict[str, Any] = {
        "rows": split.train.numel(),
        "batch": arguments.batch,
        "hidden": arguments.hidden,
        "layers": arguments.layers,
    }
    runs = {name: Run(model, split, 0, Settings.of(lr=1e-3)) for name, model in models.items()}
    start = time.perf_counter()
    task = Task(list(runs.values())[:1], bases, arguments.batch, None, arguments.memory, "cpu")
    figures |= {"read_seconds": time.perf_counter() - start, "in_memory": task.held is not None}
    learners = {name: StackLearner([run], 1) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for epoch in range(1, arguments.repeats + 2):  # the first is not counted
        for name, learner in learners.items():
            start = time.perf_counter()
            for rows, parts in task.training_batches(epoch, 1, range(1)):
                learner.train_batch(rows, parts)
            times[name].append(time.perf_counter() - start)
    medians = {name: float(np.median(seconds[1:])) for name, seconds in times.items()}
    figures["epoch_seconds"] = medians
    figures["over_chebnetii"] = {name: seconds / medians["chebnetii"] for name, seconds in medians.items()}
    figures["parameters"] = {name: sum(p.numel() for p in model.parameters()) for name, model in models.items()}
    record(arguments, "epochs", {**figures, "peak_gib": peak_gib()})


def run_training(arguments: argparse.Namespace) -> None:
    from chebnet2d.training.minibatch import fit_on_bases, stored_split

    from chebnet2d.training.basis_models import on_bases

    bases = Bases.open(arguments.folder)
    for method in arguments.methods:
        model = on_bases(method, bases, hidden_channels=arguments.hidden, num_layers=arguments.layers, maps=arguments.maps)
        start = time.perf_counter()
        result = fit_on_bases(
            model,
            bases,
            stored_split(bases),
            batch_size=arguments.batch,
            epochs=arguments.epochs,
            patience=arguments.epochs,
            lr=1e-3,
        )
        figures = {
            "method": method,
            "epochs": result.epochs,
            "seconds": time.perf_counter() - start,
            "epoch_seconds": result.seconds / result.epochs,
            "val_metric": result.val_metric,
            "test_accuracy": result.test_accuracy,
            "parameters": sum(p.numel() for p in model.parameters()),
            "peak_gib": peak_gib(),
        }
        record(arguments, "train", figures)


WAYS = ("gcn", "gcn:10000", "linkx", "linkx:10 parts", "glognn", "nodeformer:10000")


def methods(arguments: argparse.Namespace) -> None:
    """Each line in a process of its own."""
    rows = []
    for dataset in arguments.datasets:
        for way in arguments.ways:
            command = [sys.executable, __file__, "one-method", dataset, way, "--root", str(arguments.root)]
            command += ["--repeats", str(arguments.repeats)]
            answer = subprocess.run(command, capture_output=True, text=True)
            if answer.returncode:
                print(f"{dataset}, {way}: exit code {answer.returncode}: {answer.stderr.strip().splitlines()[-1:]}", flush=True)
                continue
            rows.append(json.loads(answer.stdout))
            shown = ("dataset", "way", "sampling", "epoch_seconds", "peak_gib", "cores_of_others")
            print({key: rows[-1][key] for key in shown}, flush=True)
    record(arguments, "methods", {"lines": rows})


def one_method(arguments: argparse.Namespace) -> None:
    """Epochs with the shipped settings, training and validation; the first one, which builds the operators, is not counted."""
    from chebnet2d.recipes import load_recipe
    from chebnet2d.training import fit, fit_on_nodes, sampling_of

    method, _, batch = arguments.way.partition(":")
    data = chebnet2d.data.load(arguments.dataset, arguments.root)
    split = chebnet2d.data.split(data, "fixed", seed=0)
    model = load_recipe(method, arguments.dataset).build(data)
    loaded = peak_gib()
    forget_peak()
    times = [time.perf_counter()]
    epochs = arguments.repeats + 1
    settings: dict[str, Any] = {**load_recipe(method, arguments.dataset).settings, "epochs": epochs, "patience": epochs}
    settings["progress"] = lambda _: times.append(time.perf_counter())
    size = -(-split.train.numel() // 10) if batch == "10 parts" else int(batch or 0)
    result = fit_on_nodes(model, data, split, batch_size=size, **settings) if size else fit(model, data, split, **settings)
    seconds = np.diff(times)
    figures = {
        "dataset": arguments.dataset,
        "way": arguments.way,
        "sampling": sampling_of(model) if size else "full batch",
        "batch_size": size or data.num_nodes,
        "parameters": sum(p.numel() for p in model.parameters()),
        "first_epoch_seconds": float(seconds[0]),
        "epoch_seconds": float(np.median(seconds[1:])),
        "all_seconds": seconds.tolist(),
        "load_peak_gib": loaded,
        "peak_gib": peak_gib(),
        "train_loss": result.history.train_loss,
        "val_metric": result.val_metric,
    }
    record(arguments, "one-method", figures)


def one_size(arguments: argparse.Namespace) -> None:
    """Average degree 50, 32 features, degree 10: only the number of edges changes."""
    nodes = arguments.edges // 25
    data = chebnet2d.data.csbm(nodes=nodes, classes=10, features=32, homophily=0.8, degree=50, seed=0)
    data.edge_index = large_operator(data.edge_index, nodes)
    forget_peak()
    times = []
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        made = precompute(data, out=arguments.out / "bases", degree=DEGREE, block=32)
        times.append(time.perf_counter() - start)
        written = made.nbytes / 2**30
        shutil.rmtree(arguments.out / "bases")
    figures = {"edges": arguments.edges, "nodes": nodes, "seconds": float(np.median(times)), "all_seconds": times}
    figures |= {"peak_gib": peak_gib(), "gib_written": written}
    record(arguments, "one-size", figures)


def scaling(arguments: argparse.Namespace) -> None:
    rows = []
    for millions in arguments.millions:
        command = [sys.executable, __file__, "one-size", str(int(millions * 10**6)), "--out", str(arguments.out)]
        command += ["--repeats", str(arguments.repeats)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(answer.stdout))
        print({key: rows[-1][key] for key in ("edges", "seconds", "peak_gib")}, flush=True)
    edges = np.array([row["edges"] for row in rows], dtype=float)
    slopes = {}
    for key in ("seconds", "peak_gib"):
        values = np.array([row[key] for row in rows])
        # The exponent of a power law: 1 is linear. Memory has a constant part, the libraries, and lies below; time lies above as
        # long as the columns of a block leave the cache.
        slopes[key] = float(np.polyfit(np.log(edges), np.log(values), 1)[0])
        slopes[f"{key}_last_step"] = (
            float(np.log(values[-1] / values[-2]) / np.log(edges[-1] / edges[-2])) if len(rows) > 1 else None
        )
    record(arguments, "scaling", {"sizes": rows, "exponents": slopes})
    if arguments.plot:
        _plot(arguments.plot, rows)


def _plot(path: Path, rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    edges = np.array([row["edges"] for row in rows]) / 1e6
    for axis, key, label in zip(
        axes, ("seconds", "peak_gib"), ("time of precompute, s", "peak resident memory, GiB"), strict=True
    ):
        values = np.array([row[key] for row in rows])
        slope, constant = np.polyfit(edges, values, 1)
        axis.plot(edges, values, "o", label="measured")
        axis.plot(edges, constant + slope * edges, "--", color="grey", label=f"{constant:.2g} + {slope:.2g} per million edges")
        axis.set_xlabel("edges, millions")
        axis.set_ylabel(label)
        axis.set_xticks(edges, [f"{value:g}" for value in edges])
        axis.set_ylim(bottom=0)
        axis.legend()
    figure.savefig(path, dpi=120)


def reorder(arguments: argparse.Namespace) -> None:
    """A product in the order of the files, with nodes sorted by degree, and after reverse Cuthill-McKee."""
    import scipy.sparse.csgraph

    data = chebnet2d.data.load(arguments.dataset, arguments.root)
    operator = large_operator(data.edge_index, data.num_nodes)
    matrix = operator.to_scipy()
    del data
    figures: dict[str, Any] = {}

    def timed(name: str, order: Any) -> None:
        start = time.perf_counter()
        permuted = operator
        if order is not None:
            permuted = SparseOperator.from_scipy(matrix[order][:, order], symmetric=True)
        spent = time.perf_counter() - start
        x = torch.randn(matrix.shape[0], arguments.width)
        out = torch.zeros_like(x)
        seconds = median(lambda: large_step(permuted, x, out), arguments.repeats)
        figures[name] = {"product_seconds": seconds, "reorder_seconds": spent}
        print(name, figures[name], flush=True)

    timed("as it is", None)
    timed("by degree", np.argsort(-np.diff(matrix.indptr), kind="stable"))
    start = time.perf_counter()
    order = scipy.sparse.csgraph.reverse_cuthill_mckee(scipy.sparse.csr_matrix(matrix), symmetric_mode=True)
    spent = time.perf_counter() - start
    timed("reverse Cuthill-McKee", order)
    figures["reverse Cuthill-McKee"]["reorder_seconds"] += spent
    record(arguments, "reorder", {"dataset": arguments.dataset, "width": arguments.width, "orders": figures})


def layout(arguments: argparse.Namespace) -> None:
    """Write the terms degree by degree and read batches of random rows, in three layouts of the same numbers."""
    nodes, terms, columns, tile = arguments.rows, DEGREE + 1, 64, 256
    nodes -= nodes % tile
    x = np.random.default_rng(0).standard_normal((nodes, columns), dtype=np.float32)
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, nodes, 10_000) for _ in range(5)]
    shapes = {
        "tiles": (nodes // tile, terms, tile, columns),
        "rows": (nodes, terms, columns),
        "degrees": (terms, nodes, columns),
    }
    figures = {}
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, shape in shapes.items():
        path = arguments.out / f"{name}.npy"
        array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        start = time.perf_counter()
        for d in range(terms):
            if name == "tiles":
                array[:, d] = x.reshape(-1, tile, columns)
            elif name == "rows":
                array[:, d] = x
            else:
                array[d] = x
        array.flush()
        write = time.perf_counter() - start

        def gather(rows: Any, name: str = name, array: Any = array) -> Any:
            if name == "tiles":
                return array[rows // tile, :, rows % tile]
            return array[rows] if name == "rows" else array[:, rows]

        start = time.perf_counter()
        for rows in batches:
            gather(rows)
        read = (time.perf_counter() - start) / len(batches)
        figures[name] = {"write_seconds": write, "read_batch_seconds": read}
        print(name, figures[name], flush=True)
        del array
        path.unlink()
    record(arguments, "layout", {"rows": nodes, "columns": columns, "layouts": figures})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(name: str, function: Any) -> argparse.ArgumentParser:
        added = commands.add_parser(name)
        added.set_defaults(function=function)
        added.add_argument("--json", type=Path, help="add the figures to this file")
        added.add_argument("--repeats", type=int, default=3)
        return added

    added = command("generate", generate)
    added.add_argument("like")
    added.add_argument("--root", type=Path, required=True)
    added.add_argument("--scale", type=float, default=1.0)
    added.add_argument("--model", default="power-law")
    added = command("precompute", run_precompute)
    added.add_argument("dataset")
    added.add_argument("--root", type=Path, required=True)
    added.add_argument("--out", type=Path, required=True)
    added.add_argument("--memory")
    added.add_argument("--block", type=int)
    added.add_argument("--dtype", default="float32")
    added.add_argument("--rows", default="labelled")
    added = command("product", product)
    added.add_argument("dataset")
    added.add_argument("--root", type=Path, required=True)
    added.add_argument("--widths", type=int, nargs="+", default=[16, 32, 64])
    for name, function in (("epochs", epochs), ("train", run_training)):
        added = command(name, function)
        added.add_argument("folder", type=Path)
        added.add_argument("--hidden", type=int, default=512)
        added.add_argument("--layers", type=int, default=3)
        added.add_argument("--batch", type=int, default=10_000)
        added.add_argument("--memory")
        added.add_argument("--epochs", type=int, default=50)
        added.add_argument("--maps", default="features")
        added.add_argument("--methods", nargs="+", default=["chebnet2d"])
    added = command("methods", methods)
    added.add_argument("datasets", nargs="+")
    added.add_argument("--root", type=Path, required=True)
    added.add_argument("--ways", nargs="+", default=WAYS, help="METHOD, METHOD:NODES or METHOD:10 parts")
    added = command("one-method", one_method)
    added.add_argument("dataset")
    added.add_argument("way")
    added.add_argument("--root", type=Path, required=True)
    added = command("one-size", one_size)
    added.add_argument("edges", type=int)
    added.add_argument("--out", type=Path, required=True)
    added = command("scaling", scaling)
    added.add_argument("--millions", type=float, nargs="+", default=[1, 4, 16, 64])
    added.add_argument("--out", type=Path, required=True)
    added.add_argument("--plot", type=Path)
    added = command("reorder", reorder)
    added.add_argument("dataset")
    added.add_argument("--root", type=Path, required=True)
    added.add_argument("--width", type=int, default=64)
    added = command("layout", layout)
    added.add_argument("--out", type=Path, required=True)
    added.add_argument("--rows", type=int, default=500_000)
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
