"""A graph and options with which ``auto`` takes a moment."""

import chebnet2d
from chebnet2d.auto import NodePredictor

METHODS = ["majority", "logistic"]
ENTRIES = ["majority", "logistic:features", "logistic:neighbours"]


def graph(nodes=90, **options):
    return chebnet2d.data.load("csbm", **{"nodes": nodes, "classes": 3, "features": 6, "seed": 1, **options})


def small(**options):
    return NodePredictor(**{"methods": METHODS, "folds": 3, **options})


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]
