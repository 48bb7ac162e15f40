"""The heat map of strengths: the right number in the right cell, and nothing cut off around it."""

import matplotlib.image
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from scipy.integrate import quad

import chebnet2d
from chebnet2d import InputError
from chebnet2d.plots import find_plot, save_figure

draw = find_plot("strengths")


def _model(classes=3, **options):
    torch.manual_seed(0)
    return chebnet2d.ChebNet2D(4, classes, hidden_channels=4, degree=3, init="xavier", **options)


@pytest.mark.parametrize("options", [{}, {"rank": 2}, {"scaling": "coefficients"}])
def test_a_cell_is_the_root_mean_square_from_its_row_to_its_column(options):
    model = _model(**options).double()
    cells = draw(model).axes[0].images[0].get_array()

    def square(x, c, j):
        return model.filters(torch.tensor([x], dtype=torch.float64))[0, c, j].item() ** 2

    expected = [[np.sqrt(quad(square, -1, 1, args=(c, j))[0] / 2) for j in range(3)] for c in range(3)]
    np.testing.assert_allclose(cells, expected, rtol=1e-6)
    assert not np.allclose(cells, np.transpose(cells)), "a symmetric example would not tell rows from columns"


def test_names_stand_at_both_axes_and_a_bar_beside_them():
    axes = draw(_model(), class_names=["a", "$b", "c$"]).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "$b", "c$"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "$b", "c$"]
    assert axes.images[0].colorbar.vmin == 0


@pytest.mark.parametrize("name", ["{}", "Reinforcement Learning {}", "x" * 200, r"$\no{} formula$"])
@pytest.mark.parametrize("classes", [1, 2, 10, 172])
def test_nothing_is_cut_off(tmp_path, classes, name):
    figure = draw(_model(classes), class_names=[name.format(c) for c in range(classes)])
    picture = matplotlib.image.imread(save_figure(figure, tmp_path / "s.png"))
    edges = (picture[:2], picture[-2:], picture[:, :2], picture[:, -2:])
    assert all((edge == 1).all() for edge in edges), "text or colours reach the edge of the picture"
    assert max(picture.shape) < 2400


def test_it_goes_into_given_axes():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert draw(_model(), ax=right) is figure
    assert right.images
    assert not left.images


def test_other_methods_are_refused():
    with pytest.raises(InputError, match="plot_strengths: model must have C x C filters"):
        draw(torch.nn.Linear(2, 2))
