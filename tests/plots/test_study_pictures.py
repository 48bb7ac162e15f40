"""The right numbers in the right places of the pictures of a study."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d.plots import plot_best_of_n, plot_critical_difference, plot_curves, plot_degree, plot_intervals
from chebnet2d.plots.critical_difference import levels
from chebnet2d.plots.curves import median_curve
from chebnet2d.plots.panels import line_styles, spread
from chebnet2d.reports import best_of_n, friedman, make_table
from chebnet2d.reports.scores import title_of
from study_examples import study
from table_rows import study_row, trial_row

ROWS = study(["mlp", "gcn", "chebnet2d"])


def _panel(figure, title):
    return next(panel for panel in figure.axes[0].child_axes if panel.get_title() == title)


def test_intervals_are_those_of_the_table():
    table, panel = make_table(ROWS), _panel(plot_intervals(ROWS), "y")
    names = [text.get_text() for text in _panel(plot_intervals(ROWS), "x").get_yticklabels()]
    assert names == [title_of(method) for method in sorted(table.ranks, key=table.ranks.get, reverse=True)], "the best on top"
    summaries = sorted((100 * cell.summary.mean, 100 * cell.summary.half_width) for cell in table.column("y").values())
    ends = sorted((line.get_xdata()[0], line.get_xdata()[1]) for line in panel.lines if len(line.get_xdata()) == 2)
    np.testing.assert_allclose(ends, [(mean - half, mean + half) for mean, half in summaries])
    dots = sorted(float(line.get_xdata()[0]) for line in panel.lines if len(line.get_xdata()) == 1)
    assert dots == pytest.approx([mean for mean, _ in summaries])


def test_ranks_and_groups_are_those_of_the_test():
    found, axes = friedman(ROWS), plot_critical_difference(ROWS).axes[0]
    feet = sorted(line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3)
    assert feet == pytest.approx(sorted(found.ranks.values()))
    bars = [tuple(line.get_xdata()) for line in axes.lines if line.get_linewidth() == 3]
    assert bars == [(found.ranks[group[0]], found.ranks[group[-1]]) for group in found.groups]
    assert any(f"critical difference {found.critical_difference:.2f}" in text.get_text() for text in axes.texts)


def test_lines_of_the_diagram_do_not_cross():
    axes = plot_critical_difference(study([f"m{n}" for n in range(24)])).axes[0]
    paths = [(line.get_xdata(), line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 3]
    assert len(paths) == 24
    for (x, _, edge), (_, _, y) in paths:
        for (other, _, _), (_, _, depth) in paths:
            between = min(x, edge) < other < max(x, edge)
            assert not (between and depth > y), "a line goes down through another that goes to its label"


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), max_size=12))
def test_bars_of_one_level_do_not_touch(spans):
    spans = sorted((start, start + length) for start, length in spans)
    found = levels(spans)
    for i, (start, end) in enumerate(spans):
        for j in range(i):
            assert found[i] != found[j] or spans[j][1] < start or end < spans[j][0]
    assert found == [] or min(found) == 0


def test_best_of_n_curves_are_those_of_the_report():
    curves, panel = best_of_n(ROWS), _panel(plot_best_of_n(ROWS), "z")
    expected = {tuple(np.round(100 * np.array(curve), 9)) for (_, dataset), curve in curves.items() if dataset == "z"}
    assert {tuple(np.round(line.get_ydata(), 9)) for line in panel.lines} == expected
    assert list(panel.lines[0].get_xdata()) == [1, 2, 3, 4]


def test_a_method_without_trials_on_a_dataset_leaves_no_ranks():
    rows = [trial_row("a", "x", 0, 0.5, 100), trial_row("b", "y", 0, 0.5, 100)]
    assert "no dataset with" in _panel(plot_best_of_n(rows), "mean rank").texts[-1].get_text()


def test_the_median_curve_by_hand():
    assert median_curve([[1, 2, 3, 4], [3, 4, 5], [5, 6]]) == [3, 4, 4], "two of three runs reach the third epoch, one the fourth"
    assert median_curve([[1.0, float("nan")], [3.0, 8.0]]) == [2.0, 8.0]
    panel = _panel(plot_curves([study_row("a", "x", "uniform", 0.5, 0, curve=[0.1, 0.4])]), "x")
    assert list(panel.lines[0].get_ydata()) == pytest.approx([10, 40])


def test_degrees_of_trials_or_of_runs():
    trials = [trial_row("a", "x", n, 0.1 * n, 100, config={"model": {"degree": n % 2, "rank": n}}) for n in range(4)]
    runs = [study_row("a", "x", "uniform", 0.9, 0, config={"model": {"degree": 5}})]
    of_trials = _panel(plot_degree(trials + runs), "x").lines
    assert list(of_trials[1].get_xdata()) == [0, 1]
    assert list(of_trials[1].get_ydata()) == pytest.approx([10, 20]), "means of 0 and 20, of 10 and 30"
    assert list(_panel(plot_degree(runs), "x").lines[1].get_ydata()) == [90]
    assert list(_panel(plot_degree(trials, setting="rank"), "x").lines[1].get_xdata()) == [0, 1, 2, 3]


def test_28_lines_are_told_apart():
    styles = line_styles([str(n) for n in range(28)])
    assert len({(style["color"], style["linestyle"]) for style in styles.values()}) == 28


@given(st.lists(st.floats(0, 10), max_size=24).map(sorted), st.floats(0.01, 2))
def test_labels_are_spread_no_more_than_needed(places, gap):
    moved = spread(places, gap)
    assert all(second - first >= gap - 1e-9 for first, second in pairwise(moved))
    assert sum(moved) == pytest.approx(sum(places), abs=1e-6), "as a whole they stay where they are"
    if all(second - first >= gap for first, second in pairwise(places)):
        assert moved == pytest.approx(places)
