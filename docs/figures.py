"""`make figures`: the pictures on the pages, anew. Those of speed are drawn by the benchmarks that measure them."""

import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

from matplotlib.figure import Figure

from chebnet2d.plots import save_figure
from chebnet2d.reports import summarize
from chebnet2d.study import read_rows

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def chebnet2d(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "chebnet2d", *map(str, arguments)], check=True)


def look_inside() -> None:
    """docs/filters.png and docs/report.png of the model of `make demo`, docs/explained.png of a node, docs/digits.png."""
    with tempfile.TemporaryDirectory() as folder:
        model, page = Path(folder) / "model", Path(folder) / "report.html"
        chebnet2d("train", "digits", "--seed", "0", "--save", model)
        chebnet2d("plot", model, "--graph", "digits", "--out", DOCS / "filters.png", "--force")
        chebnet2d("explain", model, "digits", "--node", "7", "--out", DOCS / "explained.png", "--force")
        chebnet2d("plot", "--data", "digits", "--out", DOCS / "digits.png", "--force")
        chebnet2d("report", model, "digits", "--out", page)
        if find_spec("playwright") and shutil.which("chromium"):
            photograph = [ROOT / "benchmarks" / "report.py", "--page", page, "--picture", DOCS / "report.png"]
            subprocess.run([sys.executable, *map(str, photograph)], check=True)


def theory() -> None:
    """docs/theory/*.png."""
    chebnet2d("theory", "--seed", "0", "--plot", DOCS / "theory", "--force")


def does_it_help() -> None:
    """docs/does-it-help.png: ChebNet2D minus ChebNetII on every graph and split of results/baselines.parquet."""
    scores: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    shares: dict[tuple[str, str], float] = {}
    for row in read_rows(ROOT / "results" / "baselines.parquet"):
        if row["method"] in ("chebnet2d", "chebnetii"):
            scores[row["split"], row["dataset"], row["method"]][row["split_seed"]] = row["test"][row["metric"]]
            shares[row["split"], row["dataset"]] = row["test_nodes"] / row["train_nodes"]
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots()
    datasets = sorted({dataset for _, dataset, _ in scores})
    for offset, (split, colour) in enumerate({"uniform": "#1f6f8b", "balanced": "#c8553d"}.items()):
        for place, dataset in enumerate(datasets):
            ours, theirs = scores[split, dataset, "chebnet2d"], scores[split, dataset, "chebnetii"]
            found = summarize({seed: [ours[seed] - theirs[seed]] for seed in ours}, shares[split, dataset])
            half = 100 * found.half_width
            height = place + 0.15 - 0.3 * offset
            axes.errorbar(
                100 * found.mean, height, xerr=half, fmt="o", color=colour, markersize=4, label=split if place == 0 else None
            )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(datasets)), datasets)
    axes.set_xlabel("ChebNet2D - ChebNetII, points of test accuracy; 95 % intervals over 10 splits")
    axes.legend(title="split", frameon=False)
    save_figure(figure, DOCS / "does-it-help.png")


def reproduction() -> None:
    """docs/reproduction/*.png, by the commands that the page gives."""
    results, folder = ROOT / "results", DOCS / "reproduction"
    for name in ("table1", "table3"):
        chebnet2d("plot", "--study", results / f"{name}.parquet", "--out", folder / f"{name}.png", "--force")


if __name__ == "__main__":
    for draw in (does_it_help, look_inside, reproduction, theory):
        draw()
