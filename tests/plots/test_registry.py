"""A plot is one function; matplotlib's axes may be given."""

import pytest
from matplotlib.figure import Figure

import chebnet2d
from chebnet2d import InputError
from chebnet2d.plots import PLOTS, find_plot, plot, plot_filters, save_figure


@pytest.fixture
def model():
    return chebnet2d.ChebNet2D(4, 3, hidden_channels=4, degree=3)


def test_a_plot_from_outside(model, tmp_path, monkeypatch):
    monkeypatch.setattr(PLOTS, "_known", dict(PLOTS))

    @plot("parameters")
    def sizes(model, *, class_names=None, ax=None):
        axes = ax or Figure().add_subplot()
        axes.bar(*zip(*((name, value.numel()) for name, value in model.named_parameters()), strict=True))
        return axes.figure

    assert find_plot("parameters") is sizes
    picture = save_figure(find_plot("parameters")(model), tmp_path / "new" / "sizes.svg")
    assert picture.read_text().startswith("<?xml")
    assert [path.name for path in picture.parent.iterdir()] == ["sizes.svg"], "no temporary file stays"


def test_shipped_plots_are_found():
    assert find_plot("filters") is plot_filters
    with pytest.raises(InputError, match="find_plot: name must be one of .*, got 'filter'. Did you mean 'filters'"):
        find_plot("filter")


def test_filters_go_into_given_axes(model):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot_filters(model, ax=right) is figure
    assert right.get_title()
    assert not left.get_title()


@pytest.mark.parametrize("name", ["picture.doc", "picture"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(InputError, match="path must end in .png, .pdf or .svg"):
        save_figure(Figure(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
