"""Which settings should ``chebnet2d train`` have by default? By validation nodes alone; test labels are not read.

    python benchmarks/defaults.py --graphs cora,chameleon --splits 3 --out defaults.jsonl

Graphs are datasets, written as CSV files and read back as a stranger's graph, and two that are generated ("csbm", "csbm-het").
Rivals with the settings that ``auto`` begins with are beside the settings of ChebNet2D. A row is appended to the file for each
graph and arm; those that are there are not run again.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from auto import GRAPHS, read_rows, write_csv
from chebnet2d import data as datasets
from chebnet2d.recipes import change_recipe, load_recipe
from chebnet2d.training import fit_many

_FAST = {"lr": 0.05, "filter_lr": 0.05, "weight_decay": 1e-5, "filter_weight_decay": 0.0}
ARMS: dict[str, dict[str, Any]] = {
    "chebnet2d": {},
    "chebnet2d, dropout of the filter": {"model": {"dropout": 0.4, "filter_dropout": 0.3}},
    "chebnet2d, fast, little decay": {"settings": _FAST},
    "chebnet2d, both": {"model": {"dropout": 0.4, "filter_dropout": 0.3}, "settings": _FAST},
    "chebnet2d, degree 6": {"model": {"degree": 6}},
    "chebnet2d, 128 hidden units": {"model": {"hidden_channels": 128}},
    "boosting, labels": {"model": {"inputs": "labels"}},
    "chebnetii": {},
    "tuned-sage": {},
    "tuned-sage, deep": {
        "model": {"num_layers": 6, "hidden_channels": 32, "norm": "batch", "residual": False, "dropout": 0.2},
        "settings": {"lr": 0.01, "weight_decay": 0.0},
    },
}
GENERATED: dict[str, dict[str, Any]] = {"csbm": {}, "csbm-het": {"homophily": 0.1, "classes": 5}}


def graph_of(name: str) -> Any:
    if name in GENERATED:
        return datasets.load("csbm", nodes=3000, **GENERATED[name])
    with tempfile.TemporaryDirectory() as folder:
        write_csv(name, Path(folder))
        data = datasets.read_graph(folder)
    data.metric = datasets.load(name).metric
    return data


def validated(data: Any, arm: str, splits: int, epochs: int) -> list[float]:
    """The best validation score of each split."""
    recipe = change_recipe(load_recipe(arm.split(",")[0], "default"), **ARMS[arm])
    recipe = change_recipe(recipe, settings={"epochs": epochs, "patience": max(epochs // 10, 20)})
    parts = [(datasets.split(data, "stratified", seed), seed) for seed in range(splits)]
    return [result.val_metric for result in fit_many(recipe.runs(data, parts), data, test=False)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join([*GRAPHS, *GENERATED]))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("defaults.jsonl"))
    options = parser.parse_args()
    rows = read_rows(options.out)
    asked = {"splits": options.splits, "epochs": options.epochs}
    done = {(row["graph"], row["arm"]) for row in rows if {name: row[name] for name in asked} == asked}
    for name in options.graphs.split(","):
        missing = [arm for arm in ARMS if (name, arm) not in done]
        data = graph_of(name) if missing else None
        for arm in missing:
            scores = validated(data, arm, **asked)
            row = {"graph": name, "arm": arm, "mean": sum(scores) / len(scores), "scores": scores, "metric": data.metric, **asked}
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{name:12} {100 * row['mean']:6.2f}  {arm}", flush=True)


if __name__ == "__main__":
    main()
