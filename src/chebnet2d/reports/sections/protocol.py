"""What a study did: its protocol, the budget of each method, where settings come from, and how to repeat a cell."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from chebnet2d.recipes.recipe import SEARCHED, STARTED
from chebnet2d.reports.budgets import ended_at_limit, find_differences, read_budgets
from chebnet2d.reports.markdown import markdown_lines, section
from chebnet2d.reports.scores import Row, first_and_others, title_of
from chebnet2d.reports.trials import chosen_scores, is_trial

_CUT = ", where `cell.toml` is the protocol's file with these `methods` and `datasets` alone"


def describe_protocol(rows: Sequence[Row]) -> str:
    """What was run, and the command that repeats one cell."""
    return section("Protocol", *(f"- {sentence}" for sentence in protocol_sentences(rows)))


def protocol_sentences(rows: Sequence[Row]) -> list[str]:
    """In Markdown; a command is between backticks."""
    runs = [row for row in rows if not is_trial(row)]
    limits = {row["dataset"]: "{epochs} and {patience}".format(**row["config"]["settings"]) for row in rows}
    splits: dict[str, str] = {}
    for row in runs:
        known = splits.setdefault(row["dataset"], row["split"])
        splits[row["dataset"]] = known if row["split"] in known.split(" and ") else f"{known} and {row['split']}"
    counts = Counter((row["method"], row["dataset"], row["split"], row["split_seed"]) for row in runs)
    of_cells = Counter(cell[:3] for cell in counts)
    lines = [
        f"{len({r['method'] for r in rows})} methods on {len(limits)} datasets, split {first_and_others(splits)}.",
        f"Runs of a cell: {_counted(of_cells.values(), 'split')}, {_counted(counts.values(), 'initialisation')} on each.",
        f"Epochs at most and patience: {first_and_others(limits)}; the best epoch on validation nodes counts.",
    ]
    if any(is_trial(row) for row in rows):
        lines.append(
            "Settings are chosen from trials of the study, by validation nodes alone; test nodes are read after the choice."
        )
    if runs:
        again = f"One cell again, here {title_of(runs[0]['method'])} on {runs[0]['dataset']}: `{cell_command(rows, runs[0])}`"
        lines.append(again + (_CUT if any(is_trial(row) for row in rows) else ""))
    return lines


def cell_command(rows: Sequence[Row], cell: Row) -> str:
    """What repeats the runs of a row's method on its dataset and kind of split; a study with a search needs its protocol."""
    if any(is_trial(row) for row in rows):
        return "chebnet2d study run cell.toml --store runs/one-cell.sqlite"
    runs = [row for row in rows if all(row[name] == cell[name] for name in ("method", "dataset", "split")) and not is_trial(row)]
    splits = len({row["split_seed"] for row in runs})
    settings = cell["config"]["settings"]
    flags = {
        "methods": cell["method"],
        "datasets": cell["dataset"],
        "split": cell["split"],
        "splits": splits,
        "inits": len(runs) // splits,
        "epochs": settings["epochs"],
        "patience": settings["patience"],
        "store": "runs/one-cell.sqlite",
    }
    return "chebnet2d study run " + " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in flags.items())


def describe_budgets(rows: Sequence[Row]) -> str:
    """What each method was given and spent, and whether that was the same for all."""
    budgets = read_budgets(rows)
    searched = any(budget.trials for budget in budgets)
    header = ["method", *(["trials", "their runs", "left at a rung", "their epochs"] if searched else []), "runs", "epochs"]
    grid = [header]
    for budget in budgets:
        trials = [budget.trials, budget.trial_runs, budget.left, budget.trial_epochs] if searched else []
        grid.append([title_of(budget.method), *(f"{value:,}" for value in (*trials, budget.runs, budget.epochs))])
    differences = find_differences(rows)
    given = "trials, runs, epochs at most and patience" if searched else "number of runs, epochs at most and patience"
    verdict = [f"Budgets are equal: on every dataset each method had the same {given}."]
    if not searched:
        verdict = [
            f"On every dataset each method had the same {given}. What the search of settings took is not part of this study."
        ]
    if differences:
        verdict = ["Budgets are **not** equal:", "", *(f"- {sentence}." for sentence in differences)]
    return section("Budgets", *markdown_lines(grid), "", *verdict)


def describe_limits(rows: Sequence[Row]) -> str:
    """Runs that more epochs might have made better, by method."""
    grid = [["method", "at the limit", "share", "where"]]
    for budget in read_budgets(rows):
        if budget.at_limit:
            own = [row for row in rows if row["method"] == budget.method and not is_trial(row)]
            where = Counter(row["dataset"] for row in own if ended_at_limit(row))
            shown = ", ".join(f"{dataset} {count}" for dataset, count in where.most_common())
            counted = f"{budget.at_limit} of {budget.runs}"
            grid.append([title_of(budget.method), counted, f"{100 * budget.share_at_limit:.1f} %", shown])
    lines = [*markdown_lines(grid), "", "Methods that are not named have none."] if len(grid) > 1 else ["None."]
    return section("Runs that end at the limit of epochs", *lines)


def kind_of(origin: str, trial: int | None = None) -> str:
    """p: published for this dataset; s: searched, s5: trial 5 of a study; d: the method's default. A recipe's origin says it.

    A search may keep what it began with. Then the letter is that of its start: what others tuned is no find of the study.
    """
    if origin.startswith(SEARCHED):
        _, kept, start = origin.partition(STARTED)
        return kind_of(start) if kept else "s" if trial is None else f"s{trial}"
    return "d" if origin.startswith(("default", "no ", "none")) else "p"


def describe_origins(rows: Sequence[Row]) -> str:
    """Where the settings of each cell come from: a letter by method and dataset, with the trial that the study's search chose."""
    letters: dict[tuple[str, str], str] = {}
    for row in rows:
        if not is_trial(row):
            cell, letter = (row["method"], row["dataset"]), kind_of(row["config"]["origin"], row.get("trial"))
            letters[cell] = letter if letters.get(cell, letter) == letter else "s"  # a search on each split chose differently
    datasets = list(dict.fromkeys(dataset for _, dataset in letters))
    methods = dict.fromkeys(method for method, _ in letters)
    grid = [[title_of(method), *(letters.get((method, dataset), "") for dataset in datasets)] for method in methods]
    legend = (
        "p: published for this dataset by the method's authors; s: searched here, by validation nodes; d: the method's default."
    )
    if any(is_trial(row) for row in rows):
        legend += " s5: trial 5 of the study's own search; p or d: trial 0, which that search kept."
    return section("Where the settings come from", *markdown_lines([["method", *datasets], *grid]), "", legend)


def describe_choices(rows: Sequence[Row]) -> str:
    """The validation scores by which a study's search chose; nothing for a study without one."""
    scores = chosen_scores(rows)
    if not scores:
        return ""
    datasets, methods = (list(dict.fromkeys(key[at] for key in scores)) for at in (1, 0))
    best = {dataset: max(score for (_, other), score in scores.items() if other == dataset) for dataset in datasets}
    shown = {key: f"{100 * score:.2f}" for key, score in scores.items()}
    marked = {key: f"**{text}**" if text == f"{100 * best[key[1]]:.2f}" else text for key, text in shown.items()}
    grid = [[title_of(method), *(marked.get((method, dataset), "") for dataset in datasets)] for method in methods]
    legend = (
        "Validation score in percent of the chosen trials on the nodes that chose them. **Best**. As the best of several trials "
        "they flatter, all methods alike: they are for choosing, the results above for knowing."
    )
    return section("What the choice was made by", *markdown_lines([["method", *datasets], *grid]), "", legend)


def _counted(counts: Iterable[int], noun: str) -> str:
    """1 split, 10 splits, or 3 to 10 splits."""
    values = sorted(counts) or [0]
    shown = str(values[0]) if values[0] == values[-1] else f"{values[0]} to {values[-1]}"
    return f"{shown} {noun}" + ("" if shown == "1" else "s")
