"""What was found: a row for each entry, with an interval over folds, and one sentence on what the graph adds to the features."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.stats

from chebnet2d.auto.candidate import FINISHED, Candidate, Outcome, Status, mean_of
from chebnet2d.auto.choice import best_of_entries
from chebnet2d.auto.portfolio import Entry
from chebnet2d.reports.statistics import corrected_error
from chebnet2d.training.metrics import METRICS, title_of_metric

CONFIDENCE = 0.95


def leaderboard(
    entries: Sequence[Entry], outcomes: Sequence[Outcome], missed: Mapping[str, Status], members: Sequence[Outcome]
) -> list[dict[str, Any]]:
    """Finished entries, the best first, then those that are not finished and so are not compared."""
    best, inside = best_of_entries(outcomes), {member.candidate.entry for member in members}
    rows, rest = [], []
    for entry in sorted(entries, key=lambda one: list(best).index(one.name) if one.name in best else len(best)):
        own = [outcome for outcome in outcomes if outcome.candidate.entry == entry.name]
        settings = sum(outcome.candidate.repeat == 0 for outcome in own)
        row: dict[str, Any] = {"method": entry.name, "graph": entry.graph, "settings": settings, "trainings": len(own)}
        row["seconds"] = round(math.fsum(outcome.seconds for outcome in own), 3)
        row["on_bases"] = any(outcome.on_bases for outcome in own)
        found = best.get(entry.name)
        if found is None:
            status = missed.get(Candidate(entry.name, 0, 0, entry.recipe).id)
            status = status or (Status("failed", "the metric is not defined") if own else Status("not tried", "no time left"))
            rest.append({**row, "score": None, "low": None, "high": None, "status": str(status), "in_predictor": False})
            continue
        low, high = interval(found.fold_scores)
        row |= {"score": found.score, "low": _number(low), "high": _number(high), "status": FINISHED}
        row |= {"fold_scores": [_number(score) for score in found.fold_scores], "in_predictor": entry.name in inside}
        rows.append({**row, "recipe": found.candidate.recipe.to_json()})
    return [*rows, *rest]


def interval(scores: Sequence[float]) -> tuple[float, float]:
    """Of the mean, by the t-test that is corrected for folds that share training nodes (Nadeau and Bengio 2003)."""
    values = np.array([score for score in scores if not math.isnan(score)])
    if values.size < 2:
        return math.nan, math.nan
    half = corrected_error(values, 1 / (len(scores) - 1)) * float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, values.size - 1))
    return float(values.mean()) - half, float(values.mean()) + half


def graph_gain(entries: Sequence[Entry], outcomes: Sequence[Outcome], metric: str) -> dict[str, Any] | None:
    """The best entry that looks at edges less the best that does not, paired over folds; None where one of them is missing."""
    best, looks = best_of_entries(outcomes), {entry.name: entry.graph for entry in entries}
    with_graph = next((outcome for name, outcome in best.items() if looks.get(name)), None)
    without = next((outcome for name, outcome in best.items() if looks.get(name) is False), None)
    if with_graph is None or without is None:
        return None
    differences = [a - b for a, b in zip(with_graph.fold_scores, without.fold_scores, strict=True)]
    low, high = interval(differences)
    gain = {"with_graph": with_graph.candidate.entry, "without": without.candidate.entry, "metric": metric}
    return {**gain, "difference": mean_of(differences), "low": _number(low), "high": _number(high)}


def sentence_of(gain: Mapping[str, Any] | None) -> str:
    """For people. Where the interval reaches zero, the simple model is recommended."""
    if gain is None:
        return "What the graph adds to the features is not known: a method with the graph and one without must both finish."
    percent = METRICS[gain["metric"]].range == (0.0, 1.0)

    def shown(value: float | None) -> str:
        return "?" if value is None else f"{100 * value:+.1f}" if percent else f"{value:+.4f}"

    title = title_of_metric(gain["metric"])
    unit = f"points of {title}" if percent else title
    numbers = f"{shown(gain['difference'])} {unit} (95 % interval {shown(gain['low'])} to {shown(gain['high'])})"
    pair = f"{gain['with_graph']} against {gain['without']}"
    if gain["low"] is not None and gain["low"] > 0:
        return f"The graph adds to the features: {numbers}, {pair}."
    return f"The graph adds nothing to the features that can be told from chance: {numbers}, {pair}. Take {gain['without']}."


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
