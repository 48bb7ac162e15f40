"""ADC and GADC against the matrix exponential and dense walks."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats

from chebnet2d import models
from dense_graph import F_IN, C, N, close, filter_input, numpy, ready
from oracle_vectors import assert_near, read_vector


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
    for name, method in (("adc", models.ADC), ("gadc", models.GADC)):
        vector = read_vector(name)
        for i in range(2):
            enter = vector.tensor(f"extra:diffusion{i}_in")
            channels = enter.shape[1]
            conv = method.convolution(channels, channels, terms=10).double()
            next(conv.parameters()).data.copy_(vector.tensor(f"param:layers.{i}.diffusion.t"))
            assert_near(conv(enter, vector.edge_index), vector.arrays[f"extra:diffusion{i}_out"], f"{name}, layer {i}")
