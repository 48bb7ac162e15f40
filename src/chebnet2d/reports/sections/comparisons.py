"""What may be said of the differences: a method against the others, ranks over all datasets, ranks after few trials."""

from collections.abc import Iterable, Sequence

from chebnet2d._checks import InputError
from chebnet2d.reports.best_of import rank_by_trials
from chebnet2d.reports.comparisons import ROPE, Comparison, Families, count_wins
from chebnet2d.reports.markdown import markdown_lines, section
from chebnet2d.reports.ranks import Friedman, friedman
from chebnet2d.reports.scores import Row, by_split_kind, read_scores, title_of
from chebnet2d.reports.tables import make_table


def describe_comparisons(families: Families) -> str:
    """The reference against every other method on every dataset, a table for each kind of split."""
    lines: list[str] = []
    for split, family in families.items():
        lines += [*markdown_lines(_grid(family)), "", _legend(family, split), ""] if family else []
    names = [title_of(one.reference) for family in families.values() for one in family]
    return section(f"{names[0]} against the others", *lines[:-1]) if names else ""


def describe_ranks(rows: Iterable[Row]) -> str:
    """Friedman's and Nemenyi's tests, and wins, ties and losses of all pairs, for each kind of split."""
    lines: list[str] = []
    for of_kind in by_split_kind(rows):
        split = make_table(of_kind).split
        try:
            lines += [rank_sentences(friedman(of_kind), split), ""]
        except InputError:
            lines += [f"Split {split}: one method, or no two datasets that all methods have; there are no ranks to test.", ""]
        methods, counts = read_scores(of_kind).methods, count_wins(of_kind)
        if len(methods) > 1:
            grid = [["method", *map(title_of, methods)]]
            grid += [[title_of(a), *("" if a == b else "/".join(map(str, counts[a, b])) for b in methods)] for a in methods]
            summary = f"Split {split}: datasets on which the row wins, ties and loses against the column (single tests at 5 %)"
            lines += ["<details>", f"<summary>{summary}</summary>", "", *markdown_lines(grid), "", "</details>", ""]
    return section("Ranks", *lines[:-1])


def describe_trials(rows: Iterable[Row]) -> str:
    """Mean rank after 1, 2, 4, ... trials; nothing for a study without a search."""
    ranks = rank_by_trials(rows)
    last = max(map(len, ranks.values()), default=0)
    shown = sorted({*(2**power for power in range(last.bit_length())), last} - {0})
    if not shown:
        return ""
    grid = [["method", *map(str, shown)]]
    grid += [[title_of(method), *(f"{of_method[n - 1]:.2f}" for n in shown)] for method, of_method in ranks.items()]
    legend = (
        "Mean rank over the datasets by the validation score that is expected of the best of n trials, drawn with replacement "
        "from those of the study (Dodge et al. 2019)."
    )
    return section("Mean rank against the number of trials", *markdown_lines(grid), "", legend)


def _grid(found: Sequence[Comparison]) -> list[list[str]]:
    datasets = list(dict.fromkeys(one.dataset for one in found))
    cells = {(one.method, one.dataset): one for one in found}
    grid = [["against", *datasets, "won/level/lost"]]
    for method in dict.fromkeys(one.method for one in found):
        own = [cells[method, dataset] for dataset in datasets if (method, dataset) in cells]
        won, lost = (sum(one.significant and sign * one.difference > 0 for one in own) for sign in (1, -1))
        shown = [_cell(cells[method, dataset]) if (method, dataset) in cells else "" for dataset in datasets]
        grid.append([title_of(method), *shown, f"{won}/{len(own) - won - lost}/{lost}"])
    return grid


def _cell(one: Comparison) -> str:
    difference = f"{round(100 * one.difference, 2) + 0.0:+.2f}"  # a zero has one sign
    chances = "/".join(f"{100 * value:.0f}" for value in vars(one.probabilities).values())
    return f"**{difference}** ({chances})" if one.significant else f"{difference} ({chances})"


def _legend(found: Sequence[Comparison], split: str) -> str:
    return (
        f"Split {split}: by how many points it is ahead, on the splits that both have. **Bold**: significant at 5 % by the "
        f"paired test with the correction for overlapping splits and Holm's correction over these {len(found)} comparisons. In "
        f"parentheses the probabilities, in percent, that it is better by more than {100 * ROPE:g} points, within {100 * ROPE:g} "
        "points, and worse (Bayesian correlated t-test)."
    )


def rank_sentences(found: Friedman, split: str) -> str:
    """The mean ranks, the test, and who is told apart from whom."""
    names = list(found.ranks)
    told = []
    for first in names:
        others = [title_of(name) for name in names if found.ranks[name] - found.ranks[first] > found.critical_difference]
        told += [f"{title_of(first)} from {', '.join(others)}"] if others else []
    ranks = ", ".join(f"{title_of(name)} {rank:.2f}" for name, rank in found.ranks.items())
    p_value = f"p = {found.p_value:.2g}" if found.p_value >= 1e-4 else "p < 0.0001"
    return (
        f"Split {split}, {found.datasets} datasets: {ranks}. Friedman's test: chi-squared {found.chi_squared:.1f}, "
        f"F {found.f:.2f}, {p_value}. Mean ranks that differ by less than {found.critical_difference:.2f} are not told apart "
        f"(Nemenyi, 5 %). Told apart: {'; '.join(told) or 'none'}."
    )
