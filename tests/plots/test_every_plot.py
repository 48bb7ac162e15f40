"""What holds for every registered plot: a new one is taken up by itself."""

import matplotlib.pyplot as plt
import pytest

import chebnet2d
from chebnet2d.plots import PLOTS, find_plot, save_figure

NAMES = {"plain": ["a", "b", "c"], "long": ["a very long name of a class " * 3] * 3, "formula": [r"$\\no a$", "<script>", "ä"]}


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("kind", sorted(PLOTS))
def test_names_of_any_kind(kind, names, tmp_path):
    figure = find_plot(kind)(chebnet2d.ChebNet2D(4, 3, degree=2), class_names=NAMES[names])
    assert save_figure(figure, tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize("kind", sorted(PLOTS))
def test_axes_that_are_given(kind):
    figure, ax = plt.subplots()
    try:
        assert find_plot(kind)(chebnet2d.ChebNet2D(4, 3, degree=2), ax=ax) is figure
        assert figure.axes
    finally:
        plt.close(figure)


@pytest.mark.parametrize("kind", sorted(PLOTS))
def test_a_model_that_cannot_be_drawn(kind):
    with pytest.raises(chebnet2d.InputError, match="must have (C x C filters|one convolution by polynomials)"):
        find_plot(kind)(chebnet2d.models.GCN(4, 3))
