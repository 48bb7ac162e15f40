"""What the report of a study shows, as values for its template."""

from collections.abc import Mapping, Sequence
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.html_reports.grids import Grid, Value, facts_of_all, number
from chebnet2d.html_reports.pictures import Picture, picture
from chebnet2d.plots import find_study_plot
from chebnet2d.reports import compare_all, find_differences, make_tables, published_numbers, read_budgets
from chebnet2d.reports.comparisons import ROPE, Comparison
from chebnet2d.reports.ranks import friedman
from chebnet2d.reports.scores import Row, by_split_kind, title_of
from chebnet2d.reports.sections.comparisons import rank_sentences
from chebnet2d.reports.sections.protocol import protocol_sentences
from chebnet2d.reports.tables import Cell, Table
from chebnet2d.reports.trials import is_trial
from chebnet2d.training.metrics import title_of_metric

PICTURES = {
    "critical-difference": "Critical differences",
    "intervals": "Means and 95 % intervals",
    "best-of-n": "What a search of n trials finds",
    "curves": "Training curves",
}
OURS = "chebnet2d"


def study_values(rows: Sequence[Row], name: str, reference: str | None = None) -> dict[str, Any]:
    """``rows``: of the report and of trials, with curves as numbers. ``reference``: the method that others are compared with."""
    runs = [row for row in rows if not is_trial(row)]
    if not runs:
        raise InputError("report", f"{name!r}", "finished runs", got="none yet", verb="have")
    methods = list(dict.fromkeys(row["method"] for row in runs))
    reference = reference or default_reference(runs)
    families = compare_all(runs, reference) if len(methods) > 1 else {}
    tables = make_tables(runs, _published())
    kinds = by_split_kind(runs)
    trials = [row for row in rows if is_trial(row)]
    parts = []
    for table, own in zip(tables, kinds, strict=True):
        shown = {row["split"] for row in own}
        parts.append(
            {
                "split": table.split,
                "table": _results(table, own),
                "ranks": _ranks(own, table.split),
                "comparisons": _comparisons(families.get(table.split, ()), table, reference),
                "pictures": _pictures([*own, *(row for row in trials if row["split"] in shown)]),
            }
        )
    versions = facts_of_all(row["versions"] for row in rows if row.get("versions"))
    return {
        "title": f"Study {name}",
        "cards": [
            ("methods", f"{len(methods):,}"),
            ("datasets", f"{len({row['dataset'] for row in runs}):,}"),
            ("runs", f"{len(runs):,}"),
            *([("runs of trials", f"{len(trials):,}")] if trials else []),
        ],
        "parts_of_study": parts,
        "reference": title_of(reference),
        "protocol": protocol_sentences(rows),
        "budgets": _budgets(rows),
        "differences": find_differences(rows),
        "searched": bool(trials),
        "versions": versions,
    }


def default_reference(rows: Sequence[Row]) -> str:
    """chebnet2d, else the first arm that is or has a 2-D convolution, else the first method."""
    names = [row["method"] for row in rows]
    arms = (row["method"] for row in rows if _is_two_dimensional(row["config"]))
    return OURS if OURS in names else next(arms, names[0])


def _is_two_dimensional(config: Mapping[str, Any]) -> bool:
    return config.get("method") == OURS or config.get("model", {}).get("coupling") == "2d"


def _published() -> dict[str, dict[str, float]]:
    """Of tables 1 to 3, which do not contradict each other: method -> dataset -> percent."""
    found: dict[str, dict[str, float]] = {}
    for number_of_table in ("1", "2", "3"):
        for method, row in published_numbers()[number_of_table].items():
            found.setdefault(method, {}).update(row)
    return found


def _results(table: Table, rows: Sequence[Row]) -> Grid:
    by_cell: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_cell.setdefault((row["method"], row["dataset"]), []).append(row)
    lines = []
    for method in table.methods:
        cells = [_cell(table.cells.get((method, d)), by_cell.get((method, d), ())) for d in table.datasets]
        rank = [number(table.ranks.get(method), f"{table.ranks[method]:.2f}")] if table.ranks else []
        lines.append([Value(title_of(method)), *cells, *rank])
    columns = ("method", *table.datasets, *(["mean rank"] if table.ranks else []))
    legend = (
        "Percent: mean and half of its 95 % interval, with the correction for splits that overlap. Bold: best of the column; "
        "underlined: not significantly worse (5 %). Below ours the paper's number, where it has one. Point at a cell, or go to "
        "it with the Tab key, for its settings and its split."
    )
    return Grid(f"Test {table.metric}, split {table.split}", columns, lines, filters=True, legend=legend)


def _cell(cell: Cell | None, rows: Sequence[Row]) -> Value:
    if cell is None:
        return Value("")
    below = "" if cell.published is None else f"paper {cell.published:.2f}"
    if not cell.summary.runs:
        return Value(cell.no_number, below=below, tip=_tip(cell, rows))
    half = 100 * cell.summary.half_width
    text = f"{100 * cell.summary.mean:.2f}" + (f" ± {half:.2f}" if half == half else "")
    looks = "best" if cell.rank == 1 else "level" if cell.level_with_best else ""
    return Value(text, cell.summary.mean, below, _tip(cell, rows), looks)


def _tip(cell: Cell, rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Settings and split of the runs of a cell."""
    kinds = ", ".join(dict.fromkeys(str(row["split"]) for row in rows))
    seeds = sorted({int(row["split_seed"]) for row in rows})
    span = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    facts = [
        ("split", f"{kinds}, {len(seeds)} of them, {span}"),
        ("runs", f"{cell.runs:,}"),
        ("metric", title_of_metric(cell.metric)),
    ]
    if cell.summary.runs > 1:
        facts.append(("deviation over runs", f"{100 * cell.summary.std:.2f}"))
    if cell.gap is not None:
        facts.append(("ours minus the paper's", f"{cell.gap:+.2f}"))
    if cell.left_out:
        facts.append(("left out", cell.left_out))
    configs = [{name: row["config"].get(name, {}) for name in ("model", "settings", "transform", "origin")} for row in rows]
    return [*facts, *((name, _cut(text)) for name, text in facts_of_all(configs) if text != "none")]


def _cut(text: str, longest: int = 300) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _ranks(rows: Sequence[Row], split: str) -> str:
    try:
        return rank_sentences(friedman(rows), split)
    except InputError:
        return "One method, or no two datasets that all methods have: there are no ranks to test."


def _comparisons(found: Sequence[Comparison], table: Table, reference: str) -> Grid | None:
    if not found:
        return None
    cells = {(one.method, one.dataset): one for one in found}
    methods = list(dict.fromkeys(one.method for one in found))
    lines = [[Value(title_of(m)), *(_compared(cells.get((m, d))) for d in table.datasets)] for m in methods]
    legend = (
        f"Points by which {title_of(reference)} is ahead. Bold: significant at 5 % by the paired test with the correction for "
        f"splits that overlap and Holm's correction over these {len(found)} comparisons. Below: the chances, in percent, that it "
        f"is better by more than {100 * ROPE:g} points, within them, and worse."
    )
    return Grid(f"{title_of(reference)} against the others", ("against", *table.datasets), lines, filters=True, legend=legend)


def _compared(one: Comparison | None) -> Value:
    if one is None:
        return Value("")
    chances = " / ".join(f"{100 * value:.0f}" for value in vars(one.probabilities).values())
    p_values = [("p-value", f"{one.p_value:.2g}"), ("with Holm's correction", f"{one.adjusted:.2g}"), ("splits", str(one.splits))]
    looks = ("ahead" if one.difference > 0 else "behind") if one.significant else ""
    return Value(f"{round(100 * one.difference, 2) + 0.0:+.2f}", one.difference, chances, p_values, looks)


def _pictures(rows: Sequence[Row]) -> list[Picture]:
    """All that the rows have something for."""
    made = []
    for kind, caption in PICTURES.items():
        try:
            made.append(picture(find_study_plot(kind)(rows), caption))
        except InputError:  # no trials, no curves, or too few datasets for ranks, as the page says there
            continue
    return made


def _budgets(rows: Sequence[Row]) -> Grid:
    budgets = read_budgets(rows)
    searched = any(budget.trials for budget in budgets)
    names = [*(["trials", "trial_runs", "left", "trial_epochs"] if searched else []), "runs", "epochs", "at_limit"]
    titles: Mapping[str, str] = {
        "trial_runs": "their runs",
        "left": "left at a rung",
        "trial_epochs": "their epochs",
        "at_limit": "runs that end at the limit of epochs",
    }
    lines = [[Value(title_of(b.method)), *(number(getattr(b, name)) for name in names)] for b in budgets]
    return Grid("What each method was given", ("method", *(titles.get(name, name) for name in names)), lines)
