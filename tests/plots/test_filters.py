"""The picture of the filters holds all that is written around them."""

import matplotlib.image
import pytest

import chebnet2d
from chebnet2d.plots import plot_filters, save_figure


@pytest.mark.parametrize("name", ["{}", "Reinforcement Learning {}", "x" * 200])
@pytest.mark.parametrize("classes", [2, 3, 5, 10])
def test_nothing_is_cut_off(tmp_path, classes, name):
    model = chebnet2d.ChebNet2D(4, classes, hidden_channels=4, degree=3)
    figure = plot_filters(model, class_names=[name.format(c) for c in range(classes)])
    picture = matplotlib.image.imread(save_figure(figure, tmp_path / "f.png"))
    edges = (picture[:2], picture[-2:], picture[:, :2], picture[:, -2:])
    assert all((edge == 1).all() for edge in edges), "text or lines reach the edge of the picture"
    assert max(picture.shape) < 2000


def test_a_letter_that_no_font_has_is_a_box_and_no_warning(tmp_path):
    model = chebnet2d.ChebNet2D(4, 2, hidden_channels=4, degree=3)
    names = ["\U0010fffd", "plain"]  # for private use: nobody draws it
    assert save_figure(plot_filters(model, class_names=names), tmp_path / "f.png").exists()
