"""Small spectra, signals and parameters."""

import numpy as np
import torch
from hypothesis import strategies as st

from chebnet2d.theory.example_graphs import random_graph, spectrum_of_edges

SEEDS = st.integers(0, 2**31 - 1)


def random_tree(nodes, rng):
    """Every node is joined to an earlier one."""
    return torch.tensor([[int(rng.integers(0, i)) for i in range(1, nodes)], list(range(1, nodes))])


def small_spectrum(rng, nodes):
    return spectrum_of_edges(random_graph(nodes, 0.3, rng), nodes)


def signal(spectrum, spectral):
    return spectrum.eigenvectors.numpy() @ spectral


def sparse_rows(rng, nodes, channels):
    """Random, with zeros, but no zero row."""
    f = rng.standard_normal((nodes, channels))
    absent = rng.random(f.shape) < 0.4
    absent[np.arange(nodes), rng.integers(0, channels, nodes)] = False
    return np.where(absent, 0.0, f)


def output_of(f, terms, parameters):
    """The definitions of the paradigms in the spectral domain, row by row: what the tests hold the library against."""
    z = np.zeros((len(f), parameters["outputs"]))
    at = iter(parameters["values"])
    for name in terms:
        if name == "I":
            z += next(at)[:, None] * f
        elif name == "III":
            z += next(at) * f
        else:
            q, r = next(at)
            z += q[:, None] * (f @ r)
    return z


def random_parameters(rng, terms, nodes, channels, outputs):
    shapes = {"I": lambda: rng.standard_normal(nodes), "III": lambda: rng.standard_normal((nodes, channels))}
    shapes["II"] = lambda: (rng.standard_normal(nodes), rng.standard_normal((channels, outputs)))
    return {"outputs": outputs, "values": [shapes[name]() for name in terms]}
