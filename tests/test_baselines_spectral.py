"""The polynomial and diffusion methods against their published implementations and against closed forms."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats
import torch
from torch_geometric.nn import APPNP as PyGAPPNP
from torch_geometric.nn import ChebConv

from chebnet2d import InputError, models
from chebnet2d.conv import FixedFilter, SpectralConv
from chebnet2d.graph import SparseOperator
from chebnet2d.models import dsgc, specgn
from chebnet2d.models.adc import Heat, Mixture
from chebnet2d.models.appnp import pagerank_coefficients
from chebnet2d.models.chebnet import ChebLayer
from chebnet2d.models.dsgc import column_filter, positive_pmi
from chebnet2d.nn import MLP, project_first
from chebnet2d.polynomials import Chebyshev, Jacobi, Legendre, Monomial, coefficient_matrix
from example_graphs import l_hat, weighted
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


# ---- torch_geometric's layers, as golden vectors ------------------------------------------------------------------------


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


# ---- oracles that need no file: dense matrices, scipy, torch_geometric ---------------------------------------------------

N, F_IN, C = 17, 6, 3


class Dense:
    """The weighted example graph (two components, isolated nodes) by numpy alone."""

    def __init__(self) -> None:
        edge_index, weight, _ = weighted(3)
        a = np.zeros((N, N))
        for (i, j), w in zip(edge_index.T.tolist(), weight.tolist(), strict=True):
            a[i, j] += w
        np.fill_diagonal(a, 0)
        self.a = np.maximum(a, a.T)
        row, col = self.a.nonzero()
        self.edge_index = torch.from_numpy(np.stack([row, col]))
        self.edge_weight = torch.from_numpy(self.a[row, col])
        self.p = self._normalised(self.a)
        self.p_loops = self._normalised(self.a + np.eye(N))
        self.x = torch.randn(N, F_IN, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
        self.inputs = (self.x, self.edge_index, self.edge_weight)

    @staticmethod
    def _normalised(a: np.ndarray) -> np.ndarray:
        degree = a.sum(1)
        scale = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
        return scale[:, None] * a * scale


@pytest.fixture(scope="module")
def dense() -> Dense:
    return Dense()


def ready(model):
    """In float64 and evaluation mode, with parameters away from their special starts."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model.double().eval()


def numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy()


def filter_input(model, dense: Dense) -> np.ndarray:
    return numpy(model.mlp(dense.x))


def by_eigenvalues(matrix: np.ndarray, h: np.ndarray, g) -> np.ndarray:
    """U g(l) U^T h; g gives one number an eigenvalue, or one for each eigenvalue and channel."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    values = np.asarray(g(eigenvalues))
    return vectors @ (values.reshape(N, -1) * (vectors.T @ h))


def close(found: torch.Tensor, wanted: np.ndarray, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(numpy(found), wanted, rtol=0, atol=atol)


def test_mlp_is_two_linear_maps(dense):
    model = ready(models.MLPClassifier(F_IN, C, 5))
    w1, b1, w2, b2 = (numpy(model.state_dict()[f"mlp.layers.{i}.{part}"]) for i in (0, 1) for part in ("weight", "bias"))
    close(model(*dense.inputs), np.maximum(numpy(dense.x) @ w1 + b1, 0) @ w2 + b2)


@pytest.mark.parametrize("terms", [1, 2, 6])
def test_chebnet_is_torch_geometrics(dense, terms):
    model = ready(models.ChebNet(F_IN, C, 5, terms=terms))
    x = dense.x
    for i, layer in enumerate(model.layers):
        theirs = ChebConv(*layer.weight.shape[1:], K=terms).double()
        theirs.load_state_dict({"bias": layer.bias, **{f"lins.{k}.weight": layer.weight[k].T for k in range(terms)}})
        x = theirs(x, dense.edge_index, dense.edge_weight, lambda_max=torch.tensor(2.0))
        x = x.relu() if i == 0 else x
    close(model(*dense.inputs), numpy(x))


def test_appnp_is_torch_geometrics(dense):
    model = ready(models.APPNP(F_IN, C, 5, steps=7, alpha=0.2))
    expected = PyGAPPNP(K=7, alpha=0.2)(model.mlp(dense.x), dense.edge_index, dense.edge_weight)
    close(model(*dense.inputs), numpy(expected))


def test_appnp_tends_to_the_personalised_pagerank(dense):
    model = ready(models.APPNP(F_IN, C, 5, steps=150, alpha=0.2))
    close(model(*dense.inputs), 0.2 * np.linalg.inv(np.eye(N) - 0.8 * dense.p_loops) @ filter_input(model, dense))


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_gnn_lf_closed_form_is_its_dense_inverse(dense, alpha):
    model = ready(models.GNNLF(F_IN, C, 5, alpha=alpha, mu=0.7, form="closed"))
    eye, p, mu = np.eye(N), dense.p_loops, 0.7
    inverse = np.linalg.inv((1 + alpha * mu - alpha) * eye + (2 * alpha - alpha * mu - 1) * p)
    close(model(*dense.inputs), alpha * inverse @ (mu * eye + (1 - mu) * p) @ filter_input(model, dense))


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_gnn_hf_closed_form_is_its_dense_inverse(dense, alpha):
    model = ready(models.GNNHF(F_IN, C, 5, alpha=alpha, beta=1.3, form="closed"))
    eye, p, beta = np.eye(N), dense.p_loops, 1.3
    inverse = np.linalg.inv(alpha * eye + (alpha * beta + 1 - alpha) * (eye - p))
    close(model(*dense.inputs), alpha * inverse @ (eye + beta * (eye - p)) @ filter_input(model, dense))


@pytest.mark.parametrize("method", [models.GNNLF, models.GNNHF])
@pytest.mark.parametrize("variant", ["faithful", "unified"])
def test_gnn_lf_hf_iteration_tends_to_the_closed_form(dense, method, variant):
    torch.manual_seed(1)
    closed = ready(method(F_IN, C, 5, alpha=0.2, form="closed", variant=variant))
    iterated = method(F_IN, C, 5, alpha=0.2, steps=200, variant=variant).double().eval()
    iterated.load_state_dict(closed.state_dict())
    close(iterated(*dense.inputs), numpy(closed(*dense.inputs)))
    assert ("mlp.layers.0.bias" in closed.state_dict()) == (variant == "unified")


def test_gprgnn_is_a_sum_of_powers(dense):
    model = ready(models.GPRGNN(F_IN, C, 5, degree=6))
    gamma = numpy(model.conv.paradigm.theta)
    z = sum(gamma[k] * np.linalg.matrix_power(dense.p_loops, k) for k in range(7))
    close(model(*dense.inputs), z @ filter_input(model, dense))


@pytest.mark.parametrize(
    ("init", "alpha", "expected"),
    [
        ("ppr", 0.1, [0.1, 0.09, 0.081, 0.729]),
        ("ppr", 1.0, [1, 0, 0, 0]),
        ("ppr", 0.0, [0, 0, 0, 1]),
        ("nppr", 0.5, [8 / 15, 4 / 15, 2 / 15, 1 / 15]),
        ("sgc", 2, [0, 0, 1, 0]),
    ],
)
def test_gprgnn_starts(init, alpha, expected):
    theta = models.GPRGNN(F_IN, C, degree=3, init=init, alpha=alpha).conv.paradigm.theta
    np.testing.assert_allclose(numpy(theta), expected, atol=1e-7)
    assert models.GPRGNN(F_IN, C, degree=3, init="random").conv.paradigm.theta.abs().sum().item() == pytest.approx(1)


def test_bernnet_against_the_binomial_distribution(dense):
    # binom(K, k) 2^-K l^k (2 - l)^(K - k) is the probability of k hits in K trials of probability l / 2.
    model = ready(models.BernNet(F_IN, C, 5, degree=8))
    theta = np.maximum(numpy(model.conv.paradigm.theta) - 0.9, 0)  # some of them 0
    with torch.no_grad():
        model.conv.paradigm.theta -= 0.9
    assert 0 < (theta == 0).sum() < 9

    def g(eigenvalues: np.ndarray) -> np.ndarray:
        share = np.clip(eigenvalues / 2, 0, 1)
        return sum(theta[k] * scipy.stats.binom.pmf(k, 8, share) for k in range(9))

    close(model(*dense.inputs), by_eigenvalues(np.eye(N) - dense.p, filter_input(model, dense), g))


@pytest.mark.parametrize("layout", ["logits", "hidden", "first", "between"])
def test_chebnetii_against_scipys_interpolation(dense, layout):
    model = ready(models.ChebNetII(F_IN, C, 5, degree=6, layout=layout))
    nodes = np.cos((np.arange(7) + 0.5) * np.pi / 7)
    values = np.maximum(numpy(model.conv.paradigm.theta), 0)
    interpolant = scipy.interpolate.BarycentricInterpolator(nodes, values)
    x = numpy(dense.x)
    enter = {"first": x, "hidden": np.maximum(filter_input(model, dense), 0)}.get(layout)
    filtered = torch.from_numpy(by_eigenvalues(-dense.p, filter_input(model, dense) if enter is None else enter, interpolant))
    leave = {"first": model.mlp, "between": getattr(model, "second_mlp", None), "hidden": getattr(model, "classifier", None)}
    expected = filtered if layout == "logits" else leave[layout](filtered)
    close(model(*dense.inputs), numpy(expected))


def test_chebnetii_starts_as_its_mlp_and_variant_v_from_squares(dense):
    model = models.ChebNetII(F_IN, C).double().eval()
    close(model(*dense.inputs), filter_input(model, dense))
    start = models.ChebNetII(F_IN, C, degree=4, layout="hidden").conv.paradigm.theta
    np.testing.assert_allclose(numpy(start), np.cos((np.arange(5) + 0.5) * np.pi / 5) ** 2, atol=1e-7)


def test_chebbase_against_numpys_series(dense):
    model = ready(models.ChebBase(F_IN, C, 5, degree=6, q=1.5))
    series = numpy(model.conv.paradigm.theta) / np.maximum(np.arange(7), 1) ** 1.5
    expected = by_eigenvalues(-dense.p, filter_input(model, dense), lambda at: np.polynomial.chebyshev.chebval(at, series))
    close(model(*dense.inputs), expected)


@pytest.mark.parametrize("coefficients", ["channel", "shared"])
def test_optbasis_against_qr_of_the_krylov_matrix(dense, coefficients):
    model = ready(models.OptBasis(F_IN, C, 5, degree=4, coefficients=coefficients, variant="unified"))
    h = filter_input(model, dense)
    alpha = np.broadcast_to(numpy(model.conv.paradigm.theta).reshape(5, -1), (5, C))
    expected = np.empty_like(h)
    for c in range(C):
        krylov = np.stack([np.linalg.matrix_power(dense.p, k) @ h[:, c] for k in range(5)], axis=1)
        q, r = np.linalg.qr(krylov)
        expected[:, c] = (q * np.sign(np.diag(r))) @ alpha[:, c]
    close(model(*dense.inputs), expected)


def test_optbasis_survives_dead_channels(dense):
    model = models.OptBasis(F_IN, C, 5, degree=3).double().train()
    with torch.no_grad():
        model.mlp[1].bias[:2] = -1e3  # two hidden units that are 0 everywhere
    model(*dense.inputs).sum().backward()
    assert all(bool(torch.isfinite(parameter.grad).all()) for parameter in model.parameters())


def test_favardgnn_against_determinants_of_its_jacobi_matrix(dense):
    model = ready(models.FavardGNN(F_IN, C, 5, degree=4, variant="unified"))
    shift, size, alpha = (numpy(v) for v in (model.conv.shift, model.conv.size.clamp(min=0.01), model.conv.paradigm.theta))

    def g(eigenvalues: np.ndarray) -> np.ndarray:
        out = np.zeros((N, C))
        for c in range(C):
            for k in range(5):
                jacobi = np.diag(shift[:k, c]) + np.diag(size[1:k, c], 1) + np.diag(size[1:k, c], -1)
                at = [np.linalg.det(value * np.eye(k) - jacobi) if k else 1.0 for value in eigenvalues]
                out[:, c] += alpha[k, c] * np.array(at) / size[: k + 1, c].prod()
        return out

    close(model(*dense.inputs), by_eigenvalues(dense.p, filter_input(model, dense), g), atol=1e-8)


@pytest.mark.parametrize(("a", "b"), [(0.75, -0.25), (-0.5, 1.0), (1.0, 1.0)])
@pytest.mark.parametrize("variant", ["faithful", "unified"])
def test_jacobiconv_with_the_correct_sign_against_scipy(dense, a, b, variant):
    model = ready(models.JacobiConv(F_IN, C, 5, degree=6, a=a, b=b, alpha=1.4, sign="correct", variant=variant))
    w, eta = numpy(model.conv.paradigm.theta), numpy(model.conv.paradigm.eta)
    scale = np.concatenate([[1.0], np.cumprod(1.4 * np.tanh(eta))])

    def g(eigenvalues: np.ndarray) -> np.ndarray:
        values = np.stack([scipy.special.eval_jacobi(k, a, b, eigenvalues) * scale[k] for k in range(7)], axis=1)
        return values @ w

    expected = by_eigenvalues(dense.p, filter_input(model, dense), g)
    close(model(*dense.inputs), expected)
    published = models.JacobiConv(F_IN, C, 5, degree=6, a=a, b=b, alpha=1.4, sign="published", variant=variant).double().eval()
    published.load_state_dict(model.state_dict())
    deviation = np.abs(numpy(published(*dense.inputs)) - expected).max()
    assert deviation < 1e-10 if a**2 == b**2 else deviation > 1e-3, "the published sign is right where a^2 = b^2 only"


@pytest.mark.parametrize(
    ("basis", "value"),
    [
        ("legendre", lambda k, x: scipy.special.eval_legendre(k, x)),
        ("chebyshev", lambda k, x: scipy.special.eval_chebyu(k, x)),
        ("monomial", lambda k, x: x**k),
        ("bernstein", lambda k, x: scipy.stats.binom.pmf(k, 6, np.clip((1 - x) / 2, 0, 1))),
    ],
)
def test_other_bases_of_jacobiconv_against_scipy(dense, basis, value):
    model = ready(models.JacobiConv(F_IN, C, 5, degree=6, basis=basis, alpha=1.4))
    w = numpy(model.conv.paradigm.theta)
    scale = np.ones(7)
    if basis != "bernstein":
        scale[1:] = np.cumprod(1.4 * np.tanh(numpy(model.conv.paradigm.eta)))
    expected = by_eigenvalues(
        dense.p, filter_input(model, dense), lambda at: np.stack([value(k, at) * scale[k] for k in range(7)], axis=1) @ w
    )
    close(model(*dense.inputs), expected)


def test_adc_with_many_terms_is_the_matrix_exponential(dense):
    model = ready(models.ADC(F_IN, C, 5, terms=40, variant="unified"))
    t, h = numpy(model.conv.paradigm.t), filter_input(model, dense)
    expected = np.stack([scipy.linalg.expm(-t[c] * (np.eye(N) - dense.p_loops)) @ h[:, c] for c in range(C)], axis=1)
    close(model(*dense.inputs), expected)


def test_adc_layers_are_diffusion_and_then_a_linear_map(dense):
    model = ready(models.ADC(F_IN, C, 5, terms=40))
    h = numpy(dense.x)
    for i, layer in enumerate(model.layers):
        t = numpy(layer.diffusion.t)
        spread = [scipy.linalg.expm(-t[f] * (np.eye(N) - dense.p_loops)) @ h[:, f] for f in range(t.size)]
        h = np.stack(spread, axis=1) @ numpy(layer.linear.weight) + numpy(layer.linear.bias)
        h = np.maximum(h, 0) if i == 0 else h
    close(model(*dense.inputs), h)


@pytest.mark.parametrize("variant", ["faithful", "unified"])
def test_gadc_starts_as_a_uniform_walk(dense, variant):
    model = models.GADC(F_IN, C, 5, terms=4, variant=variant).double().eval()
    walk = sum(np.linalg.matrix_power(dense.p_loops, k) for k in range(4)) / 4
    if variant == "unified":
        expected = walk @ filter_input(model, dense)
    else:
        first, second = (layer.linear for layer in model.layers)
        hidden = np.maximum(walk @ numpy(dense.x) @ numpy(first.weight) + numpy(first.bias), 0)
        expected = walk @ hidden @ numpy(second.weight) + numpy(second.bias)
    close(model(*dense.inputs), expected)


def test_diffusion_alone_as_published():
    for name, kind in (("adc", lambda n: Heat(n, 10, 3.0)), ("gadc", lambda n: Mixture(n, n, 10))):
        vector = read_vector(name)
        for i in range(2):
            enter = vector.tensor(f"extra:diffusion{i}_in")
            channels = enter.shape[1]
            conv = SpectralConv(channels, channels, 9, paradigm=kind(channels), basis="monomial", operator="P~").double()
            next(conv.parameters()).data.copy_(vector.tensor(f"param:layers.{i}.diffusion.t"))
            assert_near(conv(enter, vector.edge_index), vector.arrays[f"extra:diffusion{i}_out"], f"{name}, layer {i}")


@pytest.mark.parametrize(("operator", "epsilon"), [("eps", -0.5), ("eps", -0.2), ("rho", 0.25), ("rho", 0.5)])
def test_specgn_against_dense_powers(dense, operator, epsilon):
    model = ready(models.SpecGN(F_IN, C, 5, degree=3, operator=operator, epsilon=epsilon, num_layers=2))
    loops = dense.a + np.eye(N)
    if operator == "eps":
        s = np.diag(loops.sum(1) ** epsilon) @ loops @ np.diag(loops.sum(1) ** epsilon)
    else:
        s = np.real(scipy.linalg.fractional_matrix_power(loops @ loops, epsilon / 2)) @ scipy.linalg.signm(loops)
    z = numpy(model.opening(dense.x))
    for conv in model.convs:
        theta = numpy(conv.paradigm.theta)
        z = np.maximum(sum(np.linalg.matrix_power(s, k) @ z * theta[k] for k in range(4)), 0)
    close(model(*dense.inputs), numpy(model.closing(torch.from_numpy(z))), atol=1e-8)


def test_unified_specgn_is_one_filter_and_one_map(dense):
    model = ready(models.SpecGN(F_IN, C, 5, degree=4, variant="unified"))
    theta, r = numpy(model.conv.paradigm.theta), numpy(model.conv.paradigm.weight)
    filtered = sum(theta[k] * np.linalg.matrix_power(dense.p_loops, k) for k in range(5))
    close(model(*dense.inputs), filtered @ filter_input(model, dense) @ r)


def words(seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).poisson(0.5, (N, F_IN)).astype(float))


def test_positive_pmi_by_counting():
    x = words().numpy()
    x[:, 5] = 0  # a word that nobody uses
    counts = np.zeros((F_IN, F_IN))
    for i in range(F_IN):
        for j in range(F_IN):
            counts[i, j] = 0 if i == j else sum(1 for row in x if row[i] > 0 and row[j] > 0)
    expected = np.zeros_like(counts)
    for i, j in zip(*counts.nonzero(), strict=True):
        expected[i, j] = max(0, np.log(counts[i, j] * counts.sum() / (counts[i].sum() * counts[:, j].sum())))
    np.testing.assert_allclose(positive_pmi(torch.from_numpy(x)).toarray(), expected, atol=1e-12)
    assert expected.any()


@pytest.mark.parametrize("rows", ["rw", "lp", "none"])
@pytest.mark.parametrize("columns", ["ppmi", "lazy", "none"])
def test_dsgc_against_dense_filters(dense, rows, columns):
    x = words()
    model = ready(models.DSGC(F_IN, C, 5, rows=rows, columns=columns, alpha=0.5))
    loops = dense.a + np.eye(N)
    walk = loops / loops.sum(1, keepdims=True)
    low = 0.5 / 1.5 * sum(np.linalg.matrix_power(dense.p_loops / 1.5, i) for i in range(8))
    g = {"rw": walk @ walk, "lp": low, "none": np.eye(N)}[rows]
    m = positive_pmi(x).toarray() + (np.eye(F_IN) if columns == "lazy" else 0)
    scale = 1 / np.sqrt(m.sum(1))
    f = {"ppmi": scale[:, None] * m * scale, "lazy": (np.eye(F_IN) + scale[:, None] * m * scale) / 2, "none": np.eye(F_IN)}[
        columns
    ]
    u = g @ x.numpy() @ f
    close(model.smooth(x, *dense.inputs[1:]), u)
    hidden = np.maximum(u @ numpy(model.first.weight) + numpy(model.first.bias), 0)
    close(model(x, *dense.inputs[1:]), hidden @ numpy(model.second.weight) + numpy(model.second.bias))


@pytest.mark.parametrize("sparse", [False, True])
def test_dsgc_mixes_features_once_on_small_graphs(dense, sparse):
    """Two ways to compute the same: F on the features, where they have fewer numbers than F, or on the weights."""
    x = (torch.rand(N, 80, generator=torch.Generator().manual_seed(1)) < 0.3).double()  # F has more than N x F entries
    model = ready(models.DSGC(x.shape[1], C, 5))
    given = SparseOperator.from_dense(x) if sparse else x
    assert column_filter(x, "ppmi").nnz > x.numel()
    loss = lambda features: model(features, *dense.inputs[1:]).square().sum()
    ours = torch.autograd.grad(loss(given), list(model.parameters()))
    leaf = x.clone().requires_grad_()  # features with a gradient are never mixed beforehand
    theirs = torch.autograd.grad(loss(leaf), [*model.parameters(), leaf])
    for mine, other in zip(ours, theirs, strict=False):
        close(mine, other)
    assert theirs[-1].any()


def test_dsgc_remembers_its_filter_while_x_is_unchanged(dense, monkeypatch):
    calls = []
    monkeypatch.setattr(dsgc, "column_filter", lambda x, columns: calls.append(columns) or column_filter(x, columns))
    model, x = models.DSGC(F_IN, C).double().eval(), words()
    first = model(x, *dense.inputs[1:])
    model(x, *dense.inputs[1:])
    assert calls == ["ppmi"]
    x[:, 0] = 1 - x[:, 0]
    assert not torch.equal(model(x, *dense.inputs[1:]), first)
    assert calls == ["ppmi", "ppmi"]


# ---- the parts they are made of ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("basis", [Chebyshev(), Monomial(), Legendre(), Jacobi(0.5, -0.25)], ids=str)
@pytest.mark.parametrize("degree", [0, 1, 5])
def test_maps_before_the_graph_give_the_same_sum(basis, degree):
    operator = l_hat()
    x = torch.randn(N, 4, dtype=torch.float64, requires_grad=True)
    maps = torch.randn(degree + 1, 4, 3, dtype=torch.float64, requires_grad=True)
    found = project_first(operator, x, lambda k: maps[k], degree, basis)
    expected = sum(term @ maps[k] for k, term in enumerate(basis.terms(lambda v: operator @ v, x, degree)))
    torch.testing.assert_close(found, expected)
    ours = torch.autograd.grad(found.square().sum(), (x, maps))
    theirs = torch.autograd.grad(expected.square().sum(), (x, maps))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("g", [np.exp, lambda x: 1 / (1.05 - x), lambda x: np.ones_like(x)])
def test_fixed_filter_of_a_function(dense, g):
    conv = FixedFilter.of_function(g, operator="P").double()
    close(conv(dense.x, *dense.inputs[1:]), by_eigenvalues(dense.p, numpy(dense.x), g), atol=1e-11)


def test_fixed_filter_refuses_what_is_no_filter():
    with pytest.raises(InputError, match="its Chebyshev series does not end"):
        FixedFilter.of_function(np.abs)
    with pytest.raises(InputError, match="coefficients must be finite numbers"):
        FixedFilter([1.0, float("nan")])
    with pytest.raises(InputError, match="coefficients must be finite numbers"):
        FixedFilter([])


def test_constants_are_exact_in_double_precision():
    conv = FixedFilter([0.1, 0.7]).double()
    np.testing.assert_allclose(numpy(conv.weights), [0.1, 0.7], rtol=1e-14)
    np.testing.assert_allclose(numpy(conv.float().double().weights), [0.1, 0.7], rtol=1e-14)
    assert not conv.state_dict()


def test_mlp_with_batch_norm_is_torchs(dense):
    ours = MLP(F_IN, 5, C, 3, 0.0, batch_norm=True).double()
    theirs = torch.nn.Sequential(
        torch.nn.Linear(F_IN, 5),
        torch.nn.ReLU(),
        torch.nn.BatchNorm1d(5),
        torch.nn.Linear(5, 5),
        torch.nn.ReLU(),
        torch.nn.BatchNorm1d(5),
        torch.nn.Linear(5, C),
    ).double()
    for i, layer in enumerate(ours.layers):
        theirs[3 * i].load_state_dict({"weight": layer.weight.T, "bias": layer.bias})
    for _ in range(3):
        torch.testing.assert_close(ours(dense.x), theirs(dense.x))
    torch.testing.assert_close(ours.eval()(dense.x), theirs.eval()(dense.x))
    ours.norms[0].reset_parameters()
    assert ours.norms[0].running_mean.abs().max() == 0
    assert "norms.0.num_batches_tracked" not in ours.state_dict()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: models.APPNP(4, 2, alpha=1.5), r"APPNP: alpha must be a number in \[0, 1\], got 1.5"),
        (lambda: models.GPRGNN(4, 2, init="pagerank"), "GPRGNN: init must be one of 'ppr', 'nppr', 'sgc', 'random'"),
        (lambda: models.GPRGNN(4, 2, init="sgc", alpha=0.5), "GPRGNN: alpha must be an integer from 0 to 10, got 0.5"),
        (lambda: models.GNNLF(4, 2, alpha=1.0), r"GNNLF: alpha must be a number in \[0.001, 1\)"),
        (lambda: models.GNNHF(4, 2, form="dense"), "GNNHF: form must be one of 'iterative', 'closed'"),
        (lambda: models.ChebNetII(4, 2, layout="last"), "ChebNetII: layout must be one of"),
        (lambda: models.JacobiConv(4, 2, sign="minus"), "JacobiConv: sign must be one of 'published', 'correct'"),
        (lambda: models.JacobiConv(4, 2, a=-1.0, b=-1.0), "Jacobi: a and b must not both be -1"),
        (lambda: models.ADC(4, 2, t_on="test"), "ADC: t_on must be one of 'train', 'validation', got 'test'"),
        (lambda: models.OptBasis(4, 2, variant="official"), "OptBasis: variant must be one of 'faithful', 'unified'"),
        (lambda: models.DSGC(4, 2, rows="walk"), "DSGC: rows must be one of 'rw', 'lp', 'none'"),
        (lambda: models.ChebNet(4, 2, terms=0), "ChebNet: terms must be an integer >= 1, got 0"),
    ],
)
def test_wrong_arguments_are_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_the_spread_spectrum_is_for_small_graphs(monkeypatch, dense):
    monkeypatch.setattr(specgn, "LARGEST_EXACT", 10)
    with pytest.raises(InputError, match="operator must be 'eps' above 10 nodes, got 'rho' with 17"):
        models.SpecGN(F_IN, C, operator="rho").double()(*dense.inputs)
