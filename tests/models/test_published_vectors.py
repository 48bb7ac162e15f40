"""The polynomial and diffusion methods against the vectors of their published implementations."""

import numpy as np
import pytest
import torch

from chebnet2d import models
from chebnet2d.conv import FixedFilter
from chebnet2d.models.appnp import pagerank_coefficients
from chebnet2d.models.chebnet import ChebLayer
from chebnet2d.models.dsgc import column_filter, positive_pmi
from chebnet2d.polynomials import coefficient_matrix
from oracle_vectors import assert_near, check_vector, read_vector

SIZES = {"in_channels": 12, "out_channels": 4, "hidden_channels": 8}


def linear(ours: str, published: str) -> dict:
    return {f"{ours}.weight": f"{published}.weight.T", f"{ours}.bias": f"{published}.bias"}


TWO_LAYERS = linear("mlp.layers.0", "lin1") | linear("mlp.layers.1", "lin2")
THETA = "conv.paradigm.theta"


def reverse(name: str):
    """Our Chebyshev nodes run from 1 to -1, the published ones from -1 to 1."""
    return lambda p: p[name][::-1]


def stacked(pattern: str, terms: int):
    return lambda p: np.stack([p[pattern.format(k)].T for k in range(terms)])


def cheb_layers(terms: int) -> dict:
    names = {}
    for ours, published in (("layers.0", "conv1"), ("layers.1", "conv2")):
        names[f"{ours}.weight"] = stacked(published + ".lins.{}.weight", terms)
        names[f"{ours}.bias"] = f"{published}.bias"
    return names


def block_mlp(ours: str, published: str, layers: int, batch_norm: bool) -> dict:
    names = {}
    for i in range(layers):
        names |= linear(f"{ours}.layers.{i}", f"{published}.lins.{i}")
    for i in range(layers - 1 if batch_norm else 0):
        names |= {
            f"{ours}.norms.{i}.{part}": f"{published}.bns.{i}.{part}"
            for part in ("weight", "bias", "running_mean", "running_var")
        }
    return names


HIDDEN = linear("mlp.1", "fcs.0") | linear("closing.1", "fcs.1")


def jacobi(first_eta: int | None = 0, **arguments):
    names = linear("mlp.1", "emb.modlist.2") | {THETA: lambda p: p["comb.comb_weight"][0]}
    if first_eta is not None:
        names["conv.paradigm.eta"] = lambda p: np.array([p[f"conv.alphas.{k}"] for k in range(first_eta, first_eta + 5)]).reshape(
            5
        )
    return models.JacobiConv(12, 4, degree=5, alpha=1.5, **arguments), names


def adc_layers(ours: str) -> dict:
    names = {}
    for i in range(2):
        names |= linear(f"layers.{i}.linear", f"layers.{i}.lin") | {f"layers.{i}.{ours}": f"layers.{i}.diffusion.t"}
    return names


SPECGN = (
    linear("opening", "feat_encoder") | linear("closing", "final_encoder") | {"convs.0.paradigm.theta": "layers.0.filter_parm"}
)
VECTORS = {
    "chebnet": lambda: (models.ChebNet(12, 4, 32, terms=2), cheb_layers(2)),
    "chebnet_k": lambda: (models.ChebNet(**SIZES, terms=6), cheb_layers(6)),
    "appnp": lambda: (models.APPNP(**SIZES, steps=5, alpha=0.15), TWO_LAYERS),
    "gprgnn": lambda: (models.GPRGNN(**SIZES, degree=5), TWO_LAYERS | {THETA: "prop1.temp"}),
    "bernnet": lambda: (models.BernNet(**SIZES, degree=5), TWO_LAYERS | {THETA: "prop1.temp"}),
    "gnnlf_iter": lambda: (
        models.GNNLF(**SIZES, steps=5),
        {"mlp.layers.0.weight": "fcs.0.weight", "mlp.layers.1.weight": "fcs.1.weight.T"},
    ),
    "gnnhf_iter": lambda: (
        models.GNNHF(**SIZES, steps=5),
        {"mlp.layers.0.weight": "fcs.0.weight", "mlp.layers.1.weight": "fcs.1.weight.T"},
    ),
    "gnnlf_closed": lambda: (
        models.GNNLF(**SIZES, form="closed"),
        {"mlp.layers.0.weight": "fcs.0.weight", "mlp.layers.1.weight": "fcs.1.weight.T"},
    ),
    "gnnhf_closed": lambda: (
        models.GNNHF(**SIZES, form="closed"),
        {"mlp.layers.0.weight": "fcs.0.weight", "mlp.layers.1.weight": "fcs.1.weight.T"},
    ),
    "chebnetii": lambda: (models.ChebNetII(**SIZES, degree=5), TWO_LAYERS | {THETA: reverse("prop1.temp")}),
    "chebnetii_v": lambda: (
        models.ChebNetII(**SIZES, degree=5, layout="hidden"),
        linear("mlp.layers.0", "lin1") | linear("classifier", "lin2") | {THETA: reverse("prop1.temp")},
    ),
    "chebbase": lambda: (models.ChebBase(**SIZES, degree=5, q=1), TWO_LAYERS | {THETA: "prop1.temp"}),
    "chebnetii_ogb": lambda: (
        models.ChebNetII(**SIZES, degree=5, layout="first", num_layers=3),
        linear("mlp.layers.0", "lin1")
        | linear("mlp.layers.1", "lin2")
        | linear("mlp.layers.2", "lin3")
        | {THETA: reverse("temp")},
    ),
    "chebnetii_large": lambda: (
        models.ChebNetII(**SIZES, degree=5, layout="first", num_layers=3, relu=False, batch_norm=True),
        block_mlp("mlp", "mlp", 3, True) | {THETA: reverse("temp")},
    ),
    "chebnetii_nonhom": lambda: (
        models.ChebNetII(**SIZES, degree=5, relu=False, batch_norm=True),
        block_mlp("mlp", "mlp", 2, True) | {THETA: reverse("prop1.temp")},
    ),
    "chebnetii_penn94": lambda: (
        models.ChebNetII(**SIZES, degree=5, relu=False, operator="P~"),
        block_mlp("mlp", "mlp", 2, False) | {THETA: reverse("prop1.temp")},
    ),
    "chebnetii_twitch": lambda: (
        models.ChebNetII(**SIZES, degree=5, layout="between", relu=False, batch_norm=True),
        block_mlp("mlp", "mlp", 2, True) | block_mlp("second_mlp", "mlp1", 2, True) | {THETA: reverse("prop1.temp")},
    ),
    "optbasis": lambda: (models.OptBasis(**SIZES, degree=5), HIDDEN | {THETA: "alpha_params.T"}),
    "favard": lambda: (
        models.FavardGNN(**SIZES, degree=5),
        HIDDEN | {THETA: "alpha_params.T", "conv.shift": lambda p: p["yitas"].T[:-1], "conv.size": "sqrt_betas.T"},
    ),
    "adc": lambda: (models.ADC(**SIZES), adc_layers("diffusion.t")),
    "gadc": lambda: (models.GADC(**SIZES), adc_layers("diffusion.theta")),
    "specgn": lambda: (models.SpecGN(**SIZES), SPECGN),
    "specgn_rho": lambda: (models.SpecGN(**SIZES, operator="rho", epsilon=0.25), SPECGN),
    "jacobi": lambda: jacobi(a=0.75, b=-0.25),
    "jacobi_sole": lambda: jacobi(a=0.75, b=-0.25, shared=True),
    "jacobi_legendre": lambda: jacobi(basis="legendre"),
    "jacobi_cheby": lambda: jacobi(basis="chebyshev"),
    "jacobi_power": lambda: jacobi(first_eta=1, basis="monomial"),
    "jacobi_bern": lambda: jacobi(first_eta=None, basis="bernstein"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_published_implementation(name):
    vector = read_vector(name)
    model, names = VECTORS[name]()
    check_vector(model, vector, names)


@pytest.mark.parametrize("name", ["dsgc_rw", "dsgc_lp"])
def test_dsgc_filters_as_published(name):
    vector = read_vector(name)
    rows = name.removeprefix("dsgc_")
    alpha = vector.config.get("alpha", 0.2)

    def smooth(rows: str, columns: str) -> torch.Tensor:
        return models.DSGC(12, 4, rows=rows, columns=columns, alpha=alpha).double().smooth(vector.x, vector.edge_index)

    assert_near(smooth(rows, "ppmi"), vector.arrays["output"], "output")
    assert_near(smooth(rows, "lazy"), vector.arrays["output_lazy"], "lazy output")
    assert_near(smooth(rows, "none"), vector.arrays["output_rows_only"], "rows only")
    assert_near(smooth("none", "ppmi"), vector.arrays["output_columns_only"], "columns only")
    assert_near(torch.from_numpy(positive_pmi(vector.x).toarray()), vector.arrays["ppmi"], "ppmi")
    assert_near(column_filter(vector.x, "ppmi").to_dense(), vector.arrays["column_filter"], "column filter")
    assert_near(column_filter(vector.x, "lazy").to_dense(), vector.arrays["column_filter_lazy"], "lazy column filter")


def test_published_chebconv():
    vector = read_vector("pyg_chebconv")
    check_vector(ChebLayer(12, 4, 4), vector, {"weight": stacked("lins.{}.weight", 4), "bias": "bias"})


def test_published_mlp_and_chebconv_is_the_unified_chebnet():
    names = TWO_LAYERS | {THETA: stacked("conv.lins.{}.weight", 5)}
    check_vector(models.ChebNet(**SIZES, terms=5, variant="unified"), read_vector("pyg_mlp_chebconv"), names)


def test_published_mlp_and_chebconv_is_chebnet2d():
    # ChebNet2D's parameters are the values at the nodes: a linear change of the published coefficients, so gradients change too.
    vector = read_vector("pyg_mlp_chebconv")
    model = models.ChebNet2D(**SIZES, degree=4, scaling="interpolation").double().eval()
    coefficients = torch.from_numpy(stacked("conv.lins.{}.weight", 5)(vector.part("param")))
    at_nodes = torch.linalg.solve(coefficient_matrix(4, "interpolation"), coefficients.reshape(5, -1)).reshape(5, 4, 4)
    arrays = {f"param:{key}": value for key, value in vector.part("param").items()}
    for ours, published in TWO_LAYERS.items():
        value = torch.from_numpy(arrays[f"param:{published.removesuffix('.T')}"])
        model.state_dict()[ours].copy_(value.T if published.endswith(".T") else value)
    model.state_dict()[THETA].copy_(at_nodes)
    assert_near(model(vector.x, vector.edge_index), vector.arrays["output"], "output")


def test_published_appnp_layer():
    vector = read_vector("pyg_appnp")
    x = vector.x.requires_grad_()
    z = FixedFilter(pagerank_coefficients(0.1, 10)).double()(x, vector.edge_index)
    assert_near(z, vector.arrays["output"], "output")
    torch.nn.functional.cross_entropy(z, vector.tensor("y")).backward()
    assert_near(x.grad, vector.arrays["grad_x"], "gradient of x")
