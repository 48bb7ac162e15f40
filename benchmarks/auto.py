"""``auto`` against single methods with the same budget, boosting, and torch_geometric's GCN and GraphSAGE with their defaults.

    python benchmarks/auto.py --out results/auto.jsonl                      # all: days of 2 cores
    python benchmarks/auto.py --contenders quick --out results/auto.jsonl   # auto, train, boosting and torch_geometric: hours
    python benchmarks/auto.py --graphs cora,minesweeper --splits 2 --budget 2m --out results/auto-2m.jsonl
    python benchmarks/auto.py --graphs "" --out results/auto.jsonl --page results/auto.md   # no runs, the page alone

Datasets are written as CSV files with ids and raw columns and read back as a stranger's graph. Every contender sees the same
stratified split, has the same budget of wall time at most, and is tested once. A row is appended to the file when a contender is
done, and what is there is not run again: after an interrupt the same command goes on, and graphs can be run one by one. The first
split of all graphs comes first, then the second: a page can be made at any time, of all rows of the file.

"auto" trains in as many processes as torch has threads, as the command does. "train" is ``chebnet2d train`` with its defaults:
one of a few methods, chosen by validation. "auto's best" are the settings of the first line of auto's leaderboard, trained once
as ``train`` does: train must not be more than two points below it anywhere.
"""

import argparse
import itertools
import json
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import torch
from torch_geometric.nn import models as pyg_models

import chebnet2d
from chebnet2d import data as datasets
from chebnet2d.auto import PORTFOLIO, NodePredictor, best_of_few
from chebnet2d.cluster import LocalExecutor, ProcessExecutor
from chebnet2d.recipes import Recipe, load_recipe
from chebnet2d.reports.statistics import average_ranks
from chebnet2d.search import search
from chebnet2d.training.batches import Batch
from chebnet2d.training.metrics import Meter, find_metric

GRAPHS = ("cora", "chameleon", "actor", "photo", "minesweeper", "coauthor-cs", "cornell5")
SINGLE = tuple(dict.fromkeys(line.method for line in PORTFOLIO if line.method != "majority"))
BEST = "auto's best"  # comes with a row of auto
QUICK = ("auto", "train", "boosting", "pyg gcn", "pyg sage")
CONTENDERS = (*QUICK, *(f"search {method}" for method in SINGLE))
Reached = dict[str, float]
"""By the name of the contender: one call may be worth two rows."""


def write_csv(name: str, folder: Path) -> None:
    """edges.csv (each edge once) and nodes.csv (id, columns as they are, label)."""
    data = datasets.load(name)
    ids = [f"n{i}" for i in range(data.num_nodes)]
    x = data.x.to_dense().numpy() if data.x.layout != torch.strided else data.x.numpy()
    known = (data.y >= 0).tolist()
    labels = [f"class {label}" if there else "" for label, there in zip(data.y.tolist(), known, strict=True)]
    columns = {"id": ids, **{f"f{c}": x[:, c] for c in range(x.shape[1])}, "label": labels}
    pyarrow.csv.write_csv(pa.table(columns), folder / "nodes.csv")
    once = data.edge_index[:, data.edge_index[0] <= data.edge_index[1]].tolist()
    edges = {part: [ids[i] for i in ends] for part, ends in zip(("source", "target"), once, strict=True)}
    pyarrow.csv.write_csv(pa.table(edges), folder / "edges.csv")


def score(data: Any, split: Any, probabilities: Any) -> float:
    meter = Meter([find_metric(data.metric)])
    rows = torch.as_tensor(np.asarray(probabilities))[split.test].double().clamp(min=1e-300).log()
    meter.add(rows.unsqueeze(0), Batch((), data.y[split.test]))
    return float(meter.scores()[data.metric][0])


def run_auto(data: Any, split: Any, seed: int, budget: str) -> Reached:
    count = torch.get_num_threads()
    workers = ProcessExecutor(count) if count > 1 else LocalExecutor()
    predictor = NodePredictor(data.metric, split="stratified", seed=seed).fit(data, budget, executor=workers)
    assert predictor.facts["test_nodes"] == split.test.numel()
    first = predictor.leaderboard()[0]
    print(f"  first of the leaderboard: {first['method']} {first['recipe']['model']} {first['recipe']['settings']}", flush=True)
    best = trained(Recipe(**first["recipe"]), data, split, seed)
    return {"auto": score(data, split, predictor.predict_proba(data)), BEST: best}


def trained(recipe: Recipe, data: Any, split: Any, seed: int) -> float:
    model = recipe.train(data, split, seed).model
    return score(data, split, model.predict(data).probabilities)  # type: ignore[operator]


def run_train(data: Any, split: Any, seed: int, _: str) -> Reached:
    """As the command does on a graph of the user's own."""
    chosen = best_of_few(data, split, seed, metric=data.metric)
    print(f"  {chosen}", flush=True)
    return {"train": score(data, split, chosen.result.model.predict(data).probabilities)}  # type: ignore[operator]


def run_search(method: str) -> Callable[[Any, Any, int, str], Reached]:
    def run(data: Any, split: Any, seed: int, budget: str) -> Reached:
        masked = data.clone()
        for part, mask in split.masks(data.num_nodes).items():
            masked[part] = mask.unsqueeze(1)
        plan: dict[str, Any] = {"budget": budget, "splits": 1, "split": "fixed", "seed": seed}
        found = search(masked, method, recipe=load_recipe(method, "default"), **plan)
        return {f"search {method}": trained(found.recipe, data, split, seed)}

    return run


def run_boosting(data: Any, split: Any, seed: int, _: str) -> Reached:
    return {"boosting": trained(load_recipe("boosting", "default"), data, split, seed)}


def run_pyg(name: str, kind: Any) -> Callable[[Any, Any, int, str], Reached]:
    """Two layers of 64, dropout 0.5, Adam with 0.01 and 5e-4, 200 epochs, the best by validation: the usual example."""

    def run(data: Any, split: Any, seed: int, _: str) -> Reached:
        torch.manual_seed(seed)
        x = data.x.to_dense() if data.x.layout != torch.strided else data.x
        model = kind(x.shape[1], 64, 2, datasets.num_classes(data), dropout=0.5)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
        best, kept = -math.inf, torch.zeros(0)
        for _ in range(200):
            model.train()
            optimizer.zero_grad()
            logits = model(x, data.edge_index)
            torch.nn.functional.cross_entropy(logits[split.train], data.y[split.train]).backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                probabilities = model(x, data.edge_index).softmax(dim=1)
            meter = Meter([find_metric(data.metric)])
            meter.add(probabilities[split.val].clamp(min=1e-30).log().unsqueeze(0), Batch((), data.y[split.val]))
            if (now := meter.scores()[data.metric][0]) > best:
                best, kept = now, probabilities
        return {name: score(data, split, kept)}

    return run


def runner(contender: str) -> Callable[[Any, Any, int, str], Reached]:
    if contender.startswith("search "):
        return run_search(contender.removeprefix("search "))
    pyg = {name: run_pyg(name, kind) for name, kind in (("pyg gcn", pyg_models.GCN), ("pyg sage", pyg_models.GraphSAGE))}
    return {"auto": run_auto, "train": run_train, "boosting": run_boosting, **pyg}[contender]


def table_of(rows: list[dict[str, Any]]) -> str:
    """Means and standard errors over splits, and mean ranks over datasets that all contenders have, in Markdown."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    cells: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        cells.setdefault(row["contender"], {}).setdefault(row["dataset"], []).append(row["score"])
    means = {contender: {name: float(np.mean(scores)) for name, scores in own.items()} for contender, own in cells.items()}
    ranks = average_ranks(means)
    lines = [f"| contender | {' | '.join(names)} | mean rank |", f"|---|{'---|' * (len(names) + 1)}"]
    for contender in sorted(cells, key=lambda one: ranks.get(one, math.inf)):
        texts = []
        for name in names:
            scores = cells[contender].get(name, [])
            error = f" ± {100 * np.std(scores, ddof=1) / math.sqrt(len(scores)):.2f}" if len(scores) > 1 else ""
            texts.append(f"{100 * np.mean(scores):.2f}{error}" if scores else "")
        lines.append(f"| {contender} | {' | '.join(texts)} | {ranks.get(contender, math.nan):.2f} |")
    return "\n".join(lines)


def page_of(rows: list[dict[str, Any]]) -> str:
    """A table for each budget."""
    parts = [
        "# `auto` against single methods",
        "Test scores in percent, means over stratified splits (`python benchmarks/auto.py`).",
    ]
    for budget in dict.fromkeys(row["budget"] for row in rows):
        own = [row for row in rows if row["budget"] == budget]
        metrics = {row["dataset"]: row["metric"] for row in own}
        others = [f"{name}: {metric}" for name, metric in metrics.items() if metric != "accuracy"]
        note = f"Accuracy{', but ' + ', '.join(others) if others else ''}; {1 + max(row['split'] for row in own)} splits."
        parts += [f"## {budget} for each contender", note, table_of(own)]
    return "\n\n".join(parts) + "\n"


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Without a last line that a kill has cut off, which is removed from the file."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []
    if lines and not lines[-1].endswith("\n"):
        path.write_text("".join(lines[:-1]), encoding="utf-8")
        lines = lines[:-1]
    return [json.loads(line) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="names of datasets, with commas between them")
    parser.add_argument(
        "--contenders", default=",".join(CONTENDERS), help="with commas between them; quick: all but the searches"
    )
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--budget", default="10m")
    parser.add_argument("--out", type=Path, default=Path("auto.jsonl"))
    parser.add_argument("--page", type=Path, help="write a page of all rows to this file")
    options = parser.parse_args()
    rows = read_rows(options.out)
    done = {(row["dataset"], row["split"], row["contender"], row["budget"]) for row in rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    contenders = QUICK if options.contenders == "quick" else [name for name in options.contenders.split(",") if name]
    for seed, name in itertools.product(range(options.splits), [name for name in options.graphs.split(",") if name]):
        missing = [one for one in contenders if (name, seed, one, options.budget) not in done]
        if not missing:
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_csv(name, Path(folder))
            data = datasets.read_graph(folder)
        data.metric = datasets.load(name).metric
        split = chebnet2d.data.split(data, "stratified", seed)
        for contender in missing:
            started = time.perf_counter()
            reached = runner(contender)(data, split, seed, options.budget)
            seconds = round(time.perf_counter() - started, 1)
            facts = {"dataset": name, "split": seed, "budget": options.budget, "metric": data.metric, "seconds": seconds}
            new = [{"contender": own, "score": value, **facts} for own, value in reached.items()]
            rows += new
            with options.out.open("a", encoding="utf-8") as file:
                file.write("".join(json.dumps(row) + "\n" for row in new))
            print(*new, sep="\n", flush=True)
    if rows:
        print(page_of(rows))
    if options.page is not None:
        options.page.write_text(page_of(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
