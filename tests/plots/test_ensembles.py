"""Filters of several runs: their median, and a band."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

import chebnet2d
from chebnet2d import InputError
from chebnet2d.models import GCN, MODELS, Ensemble
from chebnet2d.plots import plot_filters, save_figure
from chebnet2d.plots.responses import responses_of
from randomised_model import randomised

AT = torch.linspace(-1, 1, 7, dtype=torch.float64)


def runs(name, count=5, **options):
    made = [randomised(MODELS[name](4, 3, hidden_channels=4, **options)) for _ in range(count)]
    for k, model in enumerate(made):
        with torch.no_grad():
            for value in model.own_filter().parameters():
                value += 0.1 * k
    return made


def test_the_band_holds_the_middle_of_the_runs():
    models = runs("gprgnn")
    every = np.stack([model.response(AT).numpy() for model in models])
    found = responses_of(models, AT)
    assert np.allclose(found.middle, np.median(every, axis=0))
    assert ((every.min(0) <= found.low) & (found.low <= found.middle) & (found.middle <= found.high)).all()
    assert (found.high <= every.max(0)).all()


def test_channels_are_matched_where_they_are_classes():
    classes = runs("jacobiconv", degree=2)
    assert responses_of(classes, AT).middle.shape == (7, 3)
    hidden = runs("favardgnn", degree=2)  # a linear map follows its channels, which differ from run to run
    every = np.concatenate([model.response(AT).numpy() for model in hidden], axis=1)
    found = responses_of(hidden, AT)
    assert found.middle.shape == (7, 1)
    assert np.allclose(found.middle[:, 0], np.median(every, axis=1))


def test_every_member_with_filters_is_drawn(tmp_path):
    data = chebnet2d.data.load("csbm", nodes=40, classes=3, features=4)
    ensemble = Ensemble([runs("gprgnn"), [GCN(4, 3)], runs("chebnet2d", degree=2)]).double()
    data.x = data.x.double()
    for graph in (None, data):
        figure = plot_filters(ensemble, class_names=["a", "b", "c"], data=graph)
        drawn = [panel for panel in figure.axes if "median of 5 runs" in panel.get_title()]
        assert len(drawn) == 2
        behind = [panel for panel in figure.axes if "eigenvalues" in panel.get_ylabel()]
        assert len(behind) == (0 if graph is None else 1)
        assert all(panel.get_zorder() < drawn[0].get_zorder() for panel in behind), "the density lies behind the curve"
        assert save_figure(figure, tmp_path / "f.svg").stat().st_size > 1000
    axes = Figure().add_subplot()
    assert plot_filters(ensemble, ax=axes) is axes.figure
    with pytest.raises(InputError, match="a member with one convolution by polynomials, got GCN"):
        plot_filters(Ensemble([[GCN(4, 3)]]))


def test_grids_of_runs_with_other_channels_are_not_mixed():
    figure = plot_filters(Ensemble([runs("chebnet2d", degree=2, init="xavier")]))
    assert "median" not in figure.axes[0].get_title()
