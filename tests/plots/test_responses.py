"""Responses of every spectral method, spectra and energies, each against the dense matrices of the graph."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

import chebnet2d
from chebnet2d.explanations import explain
from chebnet2d.graph import Spectrum
from chebnet2d.models import MODELS, Decoupled
from chebnet2d.plots import plot_data, plot_explanation, plot_filters, save_figure, spectra
from chebnet2d.testing import _Subject
from randomised_model import randomised
from shipped_methods import OURS


def _unified(name):
    subject = _Subject(MODELS[name], {"variant": "unified"} if name in ("adc", "gadc", "chebnet", "specgn", "dsgc") else {})
    data = subject.data.clone()
    data.x = data.x.double()
    return randomised(subject.make()), data


@pytest.mark.parametrize("name", [name for name in OURS if issubclass(MODELS[name], Decoupled)])
def test_the_response_is_what_the_convolution_does_to_each_frequency(name, tmp_path):
    model, data = _unified(name)
    signal, operator = (part.detach() if isinstance(part, torch.Tensor) else part for part in model.signal_on(data))
    conv = model.own_filter()
    found = conv.response(torch.tensor([-0.5, 0.25], dtype=torch.float64), (signal, operator))
    assert found.shape[0] == 2
    if operator.symmetric:
        spectrum = Spectrum.of(operator)
        with torch.no_grad():
            values = conv.response(spectrum.eigenvalues.clamp(-1, 1), (signal, operator))
            assert torch.allclose(spectrum.filter(signal, values), conv(signal, data.edge_index), atol=1e-6 * signal.norm())
    assert save_figure(plot_filters(model, data=data), tmp_path / "filters.png").stat().st_size > 1000


def test_energies_and_density_are_those_of_the_eigenvectors(monkeypatch):
    model, data = _unified("chebnet2d")
    signal, operator = model.signal_on(data)
    signal = signal.detach()
    spectrum = Spectrum.of(operator)
    responses = model.response(spectrum.eigenvalues.clamp(-1, 1))
    expected = torch.einsum("nc,ncj->cj", spectrum.transform(signal).square(), responses.square())
    assert np.allclose(spectra.pair_energies(model.conv, signal, operator), expected, rtol=1e-6)

    edges = np.linspace(-1, 1, 5)
    exact = spectra.density(operator, edges), spectra.energies(operator, signal, edges)
    assert exact[0].sum() == pytest.approx(1)
    assert np.allclose(exact[1].sum(0), signal.square().sum(0))
    monkeypatch.setattr(spectra, "LARGEST_EXACT", 0)
    soft = spectra.density(operator, edges), spectra.energies(operator, signal, edges)
    assert soft[0].sum() == pytest.approx(1)
    assert np.allclose(soft[1].sum(0), signal.square().sum(0))
    assert np.abs(soft[0] - exact[0]).max() < 0.1
    assert (np.abs(soft[1] - exact[1]) / exact[1].sum(0)).max() < 0.1


def test_the_strongest_pairs_are_named_and_axes_may_be_given():
    model = chebnet2d.ChebNet2D(4, 3, hidden_channels=4, degree=2)
    with torch.no_grad():
        model.conv.paradigm.theta[:, 0, 2] = 5.0
        model.conv.paradigm.theta[:, 2, 1] = 3.0
    axes = Figure().add_subplot()
    plot_filters(model, class_names=["a", "b", "c"], ax=axes)
    # Filters that are 5, 3 and, for each class itself, 1 at all frequencies: squares of 25, 9 and three times 1.
    told = " ".join(axes.get_xlabel().split())
    assert "8.1 % of the response stays in its class." in told
    assert "Strongest between different classes: a to c (68 %), c to b (24 %), " in told


def test_a_basis_for_the_signal_needs_the_graph():
    with pytest.raises(chebnet2d.InputError, match="data must be a graph, got none for OptBasis"):
        plot_filters(MODELS["optbasis"](4, 3))


@pytest.mark.parametrize("labels", [True, False])
def test_data_and_explanations_are_drawn(labels, tmp_path):
    data = _Subject(MODELS["gcn"]).data.clone()
    if not labels:
        data.y = None
    axes = Figure().add_subplot()
    assert plot_data(data, ax=axes) is axes.figure
    assert len(axes.child_axes) == (4 if labels else 2)
    assert save_figure(plot_data(data), tmp_path / "data.svg").stat().st_size > 1000
    data.node_ids = [f"<$x_{i}$>" for i in range(data.num_nodes)]
    for name in ("gcn", "gprgnn"):
        (found,) = explain(MODELS[name](24, 3), data, ["<$x_3$>"])
        assert save_figure(plot_explanation(found), tmp_path / f"{name}.svg").stat().st_size > 1000


def test_grey_nodes_are_explained_where_there_are_some():
    data = _Subject(MODELS["gprgnn"]).data
    (found,) = explain(MODELS["gprgnn"](24, 3), data, [3])
    for share, grey in ((0.5, False), (0.01, True)):
        found.shares[:] = share
        found.shares[3] = 1.0
        told = [text.get_text() for text in plot_explanation(found, top=data.num_nodes).axes[0].texts]
        assert any("grey: less than 2 % of the largest share" in text for text in told) is grey
