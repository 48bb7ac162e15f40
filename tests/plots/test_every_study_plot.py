"""What holds for every registered plot of a study: a new one is taken up by itself."""

import itertools

import matplotlib.image
import matplotlib.pyplot as plt
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import chebnet2d
from chebnet2d.plots import STUDY_PLOTS, find_study_plot, save_figure
from study_examples import NAMES, study

KINDS = sorted(STUDY_PLOTS)


def _texts(figure):
    """Boxes of all names and numbers that are drawn, inset axes included."""
    FigureCanvasAgg(figure).draw()
    found, places = [], list(figure.axes)
    while places:
        axes = places.pop()
        places += axes.child_axes
        texts = [*axes.texts, axes.title, *itertools.chain(*map(_numbers, (axes.xaxis, axes.yaxis) if axes.axison else ()))]
        texts += axes.get_legend().get_texts() if axes.get_legend() else []
        found += [text for text in texts if text.get_visible() and text.get_text().strip()]
    return found


def _numbers(axis):
    """matplotlib keeps labels of ticks beyond the end of an axis, and does not draw them."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_overlaps_and_nothing_is_cut_off(kind, names, tmp_path):
    figure = find_study_plot(kind)(study(NAMES[names], ("x", "y")))
    boxes = [(text.get_text(), text.get_window_extent().shrunk(0.98, 0.8)) for text in _texts(figure)]
    for (a, first), (b, second) in itertools.combinations(boxes, 2):
        assert not first.overlaps(second), f"{a!r} lies over {b!r}"
    picture = matplotlib.image.imread(save_figure(figure, tmp_path / "p.png"))
    edges = (picture[:2], picture[-2:], picture[:, :2], picture[:, -2:])
    assert all((edge == 1).all() for edge in edges), "text or lines reach the edge of the picture"
    assert max(picture.shape) < 2400


@pytest.mark.parametrize("kind", KINDS)
def test_svg(kind, tmp_path):
    figure = find_study_plot(kind)(study(NAMES["formula"], ("x", "y")))
    assert "<script" not in save_figure(figure, tmp_path / "p.svg").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_is_named(kind):
    texts = " ".join(text.get_text() for text in _texts(find_study_plot(kind)(study(NAMES["many"]))))
    assert all(f"method-{n}" in texts for n in range(24))


@pytest.mark.parametrize("kind", KINDS)
def test_axes_that_are_given(kind):
    figure, (left, right) = plt.subplots(1, 2)
    try:
        assert find_study_plot(kind)(study(NAMES["plain"]), ax=right) is figure
        assert right.child_axes or right.lines
        assert not left.child_axes
        assert not left.lines
    finally:
        plt.close(figure)


@pytest.mark.parametrize("kind", KINDS)
def test_no_pyplot_figure_stays_open(kind):
    assert isinstance(find_study_plot(kind)(study(NAMES["plain"])), Figure)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("kind", KINDS)
def test_runs_that_diverged_are_left_out(kind):
    rows = study(NAMES["plain"])
    for row in rows[::4]:
        row |= {"test": {"accuracy": None}, "val_metric": None, "val_loss": None, "curve": None}
    assert _texts(find_study_plot(kind)(rows))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_draw(kind):
    with pytest.raises(chebnet2d.InputError, match=r"rows must have|got none|got 0"):
        find_study_plot(kind)([])


def test_a_plot_from_outside(monkeypatch):
    monkeypatch.setattr(STUDY_PLOTS, "_known", dict(STUDY_PLOTS))

    @chebnet2d.plots.study_plot("counts")
    def counts(rows, *, ax=None):
        axes = ax or Figure().add_subplot()
        axes.bar(["runs"], [len(list(rows))])
        return axes.figure

    assert find_study_plot("counts") is counts
    with pytest.raises(chebnet2d.InputError, match="Did you mean 'intervals'"):
        find_study_plot("interval")
