"""What each method was given and spent, from the rows of a study: trials, runs, epochs, and runs that ended at the limit."""

from collections.abc import Iterable
from dataclasses import dataclass

from chebnet2d.reports.scores import Row, title_of
from chebnet2d.reports.trials import is_trial


@dataclass(frozen=True)
class Budget:
    """Of a method over all datasets. ``trials``: settings that were tried, counted on each dataset by itself.

    ``trial_runs``, ``trial_epochs``: what they took; ``left``: trial runs that left at a rung. ``runs``, ``epochs``: those of the
    report; ``at_limit``: how many of them ended at the limit of epochs, where more might have been better.
    """

    method: str
    trials: int
    trial_runs: int
    trial_epochs: int
    left: int
    runs: int
    epochs: int
    at_limit: int

    @property
    def share_at_limit(self) -> float:
        return self.at_limit / self.runs if self.runs else 0.0


def read_budgets(rows: Iterable[Row]) -> list[Budget]:
    """One for each method, in the order of the rows."""
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        by_method.setdefault(row["method"], []).append(row)
    return [_budget(method, of_method) for method, of_method in by_method.items()]


def find_differences(rows: Iterable[Row]) -> list[str]:
    """A sentence for each dataset on which methods did not have the same trials, runs or limits; none where budgets are equal."""
    cells: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        cells.setdefault((row["dataset"], row["split"]), {}).setdefault(row["method"], []).append(row)
    sentences = []
    for (dataset, split), methods in cells.items():
        given = {method: _given(of_method) for method, of_method in methods.items()}
        for what in ("trials", "runs of trials", "runs", "epochs at most", "patience"):
            values = {title_of(method): facts[what] for method, facts in given.items()}
            if len(set(values.values())) > 1:
                shown = ", ".join(f"{name} {value}" for name, value in values.items())
                sentences.append(f"{dataset}, {split}: {what} differ ({shown})")
    return sentences


def ended_at_limit(row: Row) -> bool:
    """The run was not ended by its patience."""
    return row["epochs"] >= row["config"]["settings"]["epochs"]


def _given(rows: list[Row]) -> dict[str, str]:
    """What a method was given on a dataset."""
    trials = [row for row in rows if is_trial(row)]
    runs = [row for row in rows if not is_trial(row)]
    limits = {name: sorted({row["config"]["settings"][name] for row in rows}) for name in ("epochs", "patience")}
    return {
        "trials": str(len({row["trial"] for row in trials})),
        "runs of trials": str(len(trials)),
        "runs": str(len(runs)),
        "epochs at most": "/".join(map(str, limits["epochs"])),
        "patience": "/".join(map(str, limits["patience"])),
    }


def _budget(method: str, rows: list[Row]) -> Budget:
    trials = [row for row in rows if is_trial(row)]
    runs = [row for row in rows if not is_trial(row)]
    return Budget(
        method,
        trials=len({(row["dataset"], row["trial"]) for row in trials}),
        trial_runs=len(trials),
        trial_epochs=sum(row["epochs"] for row in trials),
        left=sum(row["pruned"] for row in trials),
        runs=len(runs),
        epochs=sum(row["epochs"] for row in runs),
        at_limit=sum(ended_at_limit(row) for row in runs),
    )
