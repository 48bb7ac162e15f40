"""Residual layers in one function, against dense autograd with the same masks."""

import pytest
import torch

from chebnet2d.data import csbm
from chebnet2d.graph import operator_of
from chebnet2d.kernels.random_streams import Stream, keep_mask, random_streams
from chebnet2d.kernels.residual_layers import residual_layers

NODES, CHANNELS, LAYERS, ALPHA = 45, 3, 4, 0.3


def case(runs=None):
    data = csbm(NODES, 3, 4, degree=5, seed=1)
    generator = torch.Generator().manual_seed(7)
    lead = () if runs is None else (runs,)
    shapes = ((NODES, CHANNELS), (NODES, CHANNELS), (LAYERS, CHANNELS, CHANNELS))
    tensors = [torch.randn(*lead, *shape, dtype=torch.float64, generator=generator).requires_grad_() for shape in shapes]
    return operator_of(data.edge_index, None, data.x.double(), kind="P~", owner="t"), tensors


def dense_layers(operator, hidden, start, maps, p):
    dense = operator.to_dense()
    for number, layer_map in enumerate(maps):
        if number:
            hidden = hidden * keep_mask(hidden.shape, p, hidden)
        hidden = (((1 - ALPHA) * dense @ hidden + ALPHA * start) @ layer_map).relu()
    return hidden


@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_result_and_gradients_are_those_of_dense_autograd(rate):
    operator, tensors = case()
    p = torch.tensor(rate, dtype=torch.float64)
    results = []
    for function in (dense_layers, lambda *args: residual_layers(*args, ALPHA)):
        with random_streams([Stream(3)]):
            out = function(operator, *tensors, p)
        results.append((out, *torch.autograd.grad((out**2).sum(), tensors)))
        with random_streams([Stream(3)]), torch.no_grad():  # nothing is kept then: another path through the function
            torch.testing.assert_close(function(operator, *tensors, p), out, rtol=0, atol=0)
    assert results[0][0].any()
    for expected, actual in zip(*results, strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-11, atol=1e-11)


def test_a_stack_is_its_runs_one_after_the_other():
    operator, tensors = case(runs=3)
    p = torch.tensor([0.0, 0.5, 0.7], dtype=torch.float64)
    with random_streams([Stream(r) for r in range(3)]):
        stacked = torch.func.vmap(lambda *run: residual_layers(operator, *run, ALPHA), randomness="different")(*tensors, p)
    looped = []
    for r in range(3):
        with random_streams([Stream(r)]):
            looped.append(residual_layers(operator, *(tensor[r] for tensor in tensors), p[r], ALPHA))
    torch.testing.assert_close(stacked, torch.stack(looped), rtol=0, atol=1e-13)
    gradients = [torch.autograd.grad((out**2).sum(), tensors) for out in (stacked, torch.stack(looped))]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
