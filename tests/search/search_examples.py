"""A small grid, splits, and trials without times."""

SMALL = {"lr": [0.001, 0.05], "dropout": [0.0, 0.6], "degree": [1, 3]}
"""Eight points; every other name is fixed."""


def without_time(trial):
    """A trial without the time it took."""
    return {name: value for name, value in vars(trial).items() if name != "seconds"}
