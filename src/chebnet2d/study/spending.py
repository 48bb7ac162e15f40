"""What the search of each method has cost so far, and what is planned: trials, those that left at rungs, and epochs."""

from collections.abc import Iterable, Mapping
from typing import Any


def count_trials(trials: Iterable[Mapping[str, Any]], planned: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    """A record per method from rows of trials: ``done`` trials, those that ``left`` at a rung, ``epochs`` of all their runs.

    A point counts once on each split that it is tried on. ``planned``: trials of each method by the protocol; default: those that
    were done.
    """
    epochs = dict.fromkeys(planned or {}, 0)
    left: dict[str, dict[tuple[Any, ...], bool]] = {method: {} for method in epochs}
    for row in trials:
        method = row["method"]
        epochs[method] = epochs.get(method, 0) + row["epochs"]
        key, of_method = (row["unit_id"], row["trial"], row["split_seed"]), left.setdefault(method, {})
        of_method[key] = of_method.get(key, False) or row["pruned"]
    return [
        {
            "method": method,
            "planned": len(left[method]) if planned is None else planned.get(method, 0),
            "done": len(left[method]),
            "left": sum(left[method].values()),
            "epochs": spent,
        }
        for method, spent in epochs.items()
    ]
