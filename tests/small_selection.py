"""Protocols with a search inside with which a study takes a moment."""

from chebnet2d.study import Protocol, Selection

SPACE = {"lr": (0.005, 0.02, 0.1), "degree": (1, 3), "transform": ("none", "standardize")}


def searched(mode="development", methods=("chebnet2d", "mlp"), search=None, **changes):
    chosen = {"trials": 4, "mode": mode, "splits": (100, 101), "rungs": (4,), "start": False, "space": SPACE, **(search or {})}
    options = {"datasets": ("csbm",), "splits": 3, "inits": 2, "epochs": 9, "patience": 6, **changes}
    return Protocol(methods, search=Selection(**chosen), **options)
