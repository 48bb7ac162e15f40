"""Rows of a study with everything that a plot may draw: several methods and datasets, trials, curves, degrees."""

import math
import random

from table_rows import study_row, trial_row

LONG = "a very long name of a method " * 3
NAMES = {
    "plain": ["mlp", "gcn", "chebnet2d"],
    "long": [f"{LONG}{n}" for n in range(3)],
    "formula": [r"$\no a$", "<script>", "ä_b"],
    "many": [f"method-{n}" for n in range(24)],
}


def study(methods, datasets=("x", "y", "z"), splits=3):
    rng = random.Random(0)
    rows = []
    for place, method in enumerate(methods):
        for dataset in datasets:
            level = 0.5 + 0.4 * math.sin(1 + place) ** 2
            for seed in range(splits):
                curve = [level * (1 - math.exp(-epoch / 10)) for epoch in range(20 + 5 * seed)]
                model = {"origin": "default", "settings": {"epochs": 100, "patience": 20}, "model": {"degree": 2 + seed}}
                score = level + 0.02 * rng.random()
                rows.append(study_row(method, dataset, "uniform", score, seed, config=model, curve=curve))
            for number in range(4):
                config = {"settings": {"epochs": 100, "patience": 20}, "model": {"degree": 2 * number}}
                rows.append(trial_row(method, dataset, number, level + 0.05 * rng.random(), 100, config=config))
    return rows
