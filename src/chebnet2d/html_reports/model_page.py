"""What the report of a model or of a predictor shows, as values for its template."""

from collections.abc import Mapping, Sequence
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._versions import versions
from chebnet2d.auto.leaderboard import sentence_of
from chebnet2d.bases import Bases
from chebnet2d.html_reports.evaluation import Evaluation, evaluate
from chebnet2d.html_reports.grids import Facts, Grid, Value, facts_of, number, percent
from chebnet2d.html_reports.mistakes import list_mistakes, tell_mistakes
from chebnet2d.html_reports.pictures import Picture, picture
from chebnet2d.models import Ensemble, NodeClassifier, OnBases, OnGraph
from chebnet2d.models.registry import model_name
from chebnet2d.plots import plot_calibration, plot_filters
from chebnet2d.preparation import Preparation
from chebnet2d.training.metrics import shown_value, title_of_metric

NO_GRAPH = "No graph was given: calibration and mistakes need one. Name the graph, too."
_TRAINING = ("preset", "seed", "best_epoch", "epochs", "seconds", "parameters", "diverged", "interrupted", "class_weight")
_SEARCH = ("metric", "folds", "seed", "pool", "test_nodes", "class_weight", "inductive", "budget", "seconds", "stopped")


def model_values(model: NodeClassifier | OnBases, facts: Mapping[str, Any], source: Any, mistakes: int) -> dict[str, Any]:
    """``facts``: what was saved with the model. ``source``: the graph, as it was read; None for none."""
    found, notes = _judged(model, source)
    saved = facts.get("test") if isinstance(model, Ensemble) else facts.get("report")
    report = saved if found is None else found.report.to_json()
    metric = facts.get("metric") or "accuracy"
    told, about = ([], "") if found is None else tell_mistakes(model, source, found.mistakes[:mistakes])
    filters, why = _filters(model, source)
    return {
        "title": _title(model, facts, source),
        "kind": "predictor" if isinstance(model, Ensemble) else "model",
        "notes": notes,
        "cards": _cards(report, metric, found),
        "nodes": found.nodes if found is not None else "the test nodes, at the end of the training",
        "leaderboard": _leaderboard(facts.get("leaderboard") or (), metric),
        "graph_adds": sentence_of(facts.get("graph_adds")) if facts.get("leaderboard") else "",
        "scores": None if report is None else _scores(report["scores"]),
        "classes": None if report is None else _classes(report["classes"]),
        "confusion": None if report is None else _confusion(report),
        "calibration": None if found is None else picture(plot_calibration(found.calibration), "Calibration on these nodes"),
        "bins": None if found is None else _bins(found),
        "filters": filters,
        "why_no_filters": why,
        "mistakes": told,
        "about_mistakes": about,
        "mistakes_listed": list_mistakes(found.mistakes[:mistakes]) if found is not None and found.mistakes else None,
        "wrong": 0 if found is None else len(found.mistakes),
        "lists": _lists(model, facts, source),
    }


def _judged(model: Any, source: Any) -> tuple[Evaluation | None, list[str]]:
    """How the model does, or a note on why that is not known."""
    if source is None:
        return None, [NO_GRAPH]
    try:
        return evaluate(model, source), []
    except InputError as error:
        if error.owner != "report":  # a graph that the model cannot take
            raise
        return None, [f"{_upper(error.sentence(owner=''))} What follows is from the training."]


def _upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _title(model: Any, facts: Mapping[str, Any], source: Any) -> str:
    method = "Predictor" if isinstance(model, Ensemble) else facts.get("method") or _method(model)
    on = facts.get("dataset") or (None if source is None else getattr(source, "name", None))
    return f"{method} on {on}" if on else str(method)


def _method(model: Any) -> str:
    model = model.model if isinstance(model, OnGraph) else model
    return model.method if isinstance(model, OnBases) else model_name(type(model))


def _cards(report: Any, metric: str, found: Evaluation | None) -> Facts:
    """The first numbers that are looked for."""
    if report is None:
        return ()
    names = [name for name in dict.fromkeys((metric, "accuracy")) if report["scores"].get(name) is not None]
    cards = [(title_of_metric(name), shown_value(name, report["scores"][name])) for name in names]
    cards.append(("the largest class alone", f"{100 * report['majority']:.2f} %"))
    if found is not None:
        cards.append(("calibration error", f"{100 * found.calibration.error:.1f} points"))
    if (brier := report.get("calibration", {}).get("brier_score")) is not None:
        cards.append(("Brier score", f"{brier:.3f}"))
    return [*cards, ("nodes", f"{sum(map(sum, report['confusion'])):,}")]


def _leaderboard(rows: Sequence[Mapping[str, Any]], metric: str) -> Grid | None:
    if not rows:
        return None
    lines = []
    for row in rows:
        ends = (row["low"], row["high"])
        span = "" if None in ends else " to ".join(shown_value(metric, end).removesuffix(" %") for end in ends)
        score = Value("") if row["score"] is None else number(row["score"], shown_value(metric, row["score"]))
        recipe = row.get("recipe", {})
        tip = facts_of({name: recipe[name] for name in ("model", "settings", "transform") if name in recipe})
        member = Value("member" if row["in_predictor"] else "")
        counts = [number(row["settings"]), number(row["seconds"], f"{row['seconds']:.1f}")]
        looks = "best" if row["in_predictor"] else ""
        score = Value(score.text, score.order, tip=tip, looks=looks)
        lines.append([Value(row["method"]), score, Value(span), *counts, member, Value(row["status"])])
    columns = ("method", "score", "95 % interval", "settings tried", "seconds", "in the predictor", "status")
    legend = "Means over folds; intervals have the correction for folds that share nodes. Point at a score for its settings."
    return Grid(f"Leaderboard: {title_of_metric(metric)}", columns, lines, filters=len(lines) > 8, legend=legend)


def _scores(scores: Mapping[str, float | None]) -> Grid:
    rows = [[Value(title_of_metric(n)), number(v, None if v is None else shown_value(n, v))] for n, v in scores.items()]
    return Grid("All metrics", ("metric", "value"), rows, sorts=False)


def _classes(rows: Sequence[Mapping[str, Any]]) -> Grid:
    shares = ("precision", "recall", "f1")
    lines = [[Value(row["class"]), *(percent(row[name]) for name in shares), number(row["support"])] for row in rows]
    return Grid("By class", ("class", "precision", "recall", "F1", "nodes"), lines, filters=len(lines) > 12)


def _confusion(report: Mapping[str, Any]) -> Grid:
    """Shaded by the share of the row, in two colours: what is right, and what is wrong."""
    names = [row["class"] for row in report["classes"]]
    lines = []
    for t, counts in enumerate(report["confusion"]):
        whole = sum(counts) or 1
        looks = [f"{'right' if t == p else 'wrong'}-{-(-9 * count // whole)}" for p, count in enumerate(counts)]
        cells = zip(counts, looks, strict=True)
        lines.append([Value(names[t]), *(number(count, looks=look if count else "zero") for count, look in cells)])
    return Grid("Confusion matrix: rows are classes, columns what was predicted", ("class", *names), lines, sorts=False)


def _bins(found: Evaluation) -> Grid:
    rows = [
        [Value(f"{100 * b.low:.0f} to {100 * b.high:.0f} %"), number(b.nodes), percent(b.confidence), percent(b.right)]
        for b in found.calibration.bins
    ]
    return Grid("Calibration in numbers", ("confidence", "nodes", "mean confidence", "right"), rows)


def _filters(model: Any, source: Any) -> tuple[Picture | None, str]:
    """The picture; or why there is none."""
    names = None if model.preparation is None else model.preparation.class_names
    on_graph = None if isinstance(source, Bases) else source
    try:
        figure = plot_filters(model, class_names=names, data=on_graph)  # type: ignore[call-arg]  # not every plot has data
        return picture(figure, "Learned filters"), ""
    except InputError as error:
        return None, f"There are none to draw: {error.sentence(owner='')}"


def _lists(model: Any, facts: Mapping[str, Any], source: Any) -> list[tuple[str, Facts]]:
    """Settings, split, graph and versions, as names and values."""
    predictor = isinstance(model, Ensemble)
    preparation = model.preparation or Preparation()
    training = {name: facts[name] for name in (_SEARCH if predictor else _TRAINING) if facts.get(name) is not None}
    training |= {name: getattr(model, name) for name in ("threshold", "temperature") if getattr(model, name, None) is not None}
    lists: list[tuple[str, Facts]] = [("Training", facts_of(training))]
    if not predictor:
        lists += [("Settings", facts_of(facts.get("settings") or {})), ("Arguments of the method", facts_of(model.config))]
    else:
        members = {f"member {m + 1}": f"{_method(runs[0])}, {len(runs)} runs" for m, runs in enumerate(model.models)}
        lists.append(("Members", facts_of(members)))
    columns = "" if preparation.encoding is None else f", {len(preparation.encoding.columns)} columns"
    lists += [("Split", _split(model, facts)), ("Features", [("transform", f"{preparation.transform}{columns}")])]
    if source is not None and not isinstance(source, Bases):
        counts = {"nodes": source.num_nodes, "listed edges": source.edge_index.shape[1], "features": model.config["in_channels"]}
        lists.append(("Graph of this report", facts_of(counts)))
    made = {f"{name} at the training": version for name, version in (facts.get("versions") or {}).items()}
    lists.append(("Versions", facts_of(made | {f"{name} of this report": version for name, version in versions().items()})))
    return [(title, values) for title, values in lists if values]


def _split(model: Any, facts: Mapping[str, Any]) -> Facts:
    counts = {} if model.seen is None else {f"{part} nodes": count for part, count in model.seen.counts().items()}
    return facts_of({**(facts.get("split") or {}), **counts})
