"""Pictures of models that were trained on bases: their filter is before the MLP, and its channels are features."""

import numpy as np
import pytest
import torch

import chebnet2d
from chebnet2d.models.on_bases import READINGS
from chebnet2d.plots import plot_filters, save_figure
from chebnet2d.preparation import Preparation


def made(reading, method, **options):
    torch.manual_seed(0)
    model = READINGS[reading](method, 5, 3, hidden_channels=4, degree=2, **options)
    model.preparation = Preparation(feature_names=["u", "v", "w", "x", "y"])
    return model


CASES = [
    ("filter-first", "chebnet2d", {"maps": "features"}, "from feature (row) to feature (column)", True),
    ("filter-first", "chebnet2d", {"maps": "hidden"}, "from feature (row) to hidden unit (column)", True),
    ("each-basis", "chebnet2d", {}, "from channel (row) to class (column)", False),
    ("filter-first", "bernnet", {}, "Filter of bernnet on bases: one for all channels", True),
]


@pytest.mark.parametrize(("reading", "method", "options", "title", "shaded"), CASES, ids=lambda value: str(value)[:12])
def test_what_rows_and_columns_are(reading, method, options, title, shaded, tmp_path):
    data = chebnet2d.data.load("csbm", nodes=40, classes=3, features=5)
    data.feature_names = ["u", "v", "w", "x", "y"]
    model = made(reading, method, **options)
    for graph in (None, data):
        figure = plot_filters(model, class_names=["a", "b", "c"], data=graph)
        axes = figure.axes[0]
        assert title in axes.get_title()
        if method == "chebnet2d":
            assert ("the more energy it carries" in axes.get_xlabel()) == (shaded and graph is not None)
            names = {label.get_text() for label in axes.get_yticklabels()}
            assert names == ({"a", "b", "c"} if reading == "each-basis" else {"u", "v", "w", "x", "y"})
        assert save_figure(figure, tmp_path / "f.png").stat().st_size > 1000


def test_the_strongest_of_many_features_are_shown():
    model = READINGS["filter-first"]("chebnet2d", 30, 3, hidden_channels=40, degree=1, maps="features")
    with torch.no_grad():
        model.conv.paradigm.theta[:, 27, 29] = 9.0
    axes = plot_filters(model).axes[0]
    assert "of 30 x 30 those with the strongest filters" in axes.get_title()
    rows, columns = ([label.get_text() for label in side] for side in (axes.get_yticklabels(), axes.get_xticklabels()))
    assert rows == columns
    assert len(rows) == 16
    assert {"27", "29"} <= set(rows)
    assert "Strongest between different features: 27 to 29 (73 %)" in " ".join(axes.get_xlabel().split())  # 81 of 81 + 30


def test_labels_do_not_lie_on_each_other_where_there_is_room():
    from matplotlib.figure import Figure

    from chebnet2d.plots.labels import _box, label_sides

    axes = Figure(figsize=(6, 6)).add_axes((0, 0, 1, 1))
    axes.set(xlim=(-3, 3), ylim=(-3, 3))
    places = {0: (0.0, 0.0), 1: (0.0, -0.4), 2: (0.4, 0.0)}
    labels = dict.fromkeys(places, ("a long label\n+1", 8.0))
    sides = label_sides(axes, places, labels, [])
    boxes = [_box(72 * np.array(places[n]), *labels[n], sides[n]) for n in places]
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert not ((one[0] < other[1]).all() and (other[0] < one[1]).all())
    assert label_sides(axes, {0: (0.0, 0.0)}, {0: ("x", 8.0)}, []) == {0: (0, -1)}
    assert label_sides(axes, {0: (0.0, 0.0)}, {0: ("x", 8.0)}, [((0.0, 0.0), (0.0, -2.0))])[0] != (0, -1), "beside the edge"
