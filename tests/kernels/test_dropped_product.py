"""dropout(x) W in blocks: against the mask written out, from the same stream."""

import pytest
import torch

from chebnet2d.kernels.dropped_product import dropped_product
from chebnet2d.kernels.random_streams import Stream, keep_mask, random_streams
from chebnet2d.nn import Dropout, Linear


def rate(p):
    return torch.tensor(p, dtype=torch.float64)


def written_out(x, weight, p, seed):
    with random_streams([Stream(seed)]):
        return (x * keep_mask(x.shape, rate(p), x)) @ weight


@pytest.mark.parametrize("rows", [1, 7, 511, 512, 513, 1500])
@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 0.9])
def test_values_and_gradients_are_those_of_the_mask_written_out(rows, p):
    generator = torch.Generator().manual_seed(rows)
    x, weight, grad = (
        torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((rows, 13), (13, 5), (rows, 5))
    )
    x, weight = x.requires_grad_(), weight.requires_grad_()

    with random_streams([Stream(3)]):
        blocks = dropped_product(x, weight, rate(p))
    whole = written_out(x, weight, p, 3)

    torch.testing.assert_close(blocks, whole, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(
        torch.autograd.grad(blocks, (x, weight), grad), torch.autograd.grad(whole, (x, weight), grad), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_the_stream_goes_on_where_the_mask_written_out_leaves_it():
    x, weight = torch.randn(700, 3), torch.randn(3, 2)
    one, other = Stream(5), Stream(5)
    with random_streams([one]):
        dropped_product(x, weight, rate(0.5))
    with random_streams([other]):
        keep_mask(x.shape, rate(0.5), x)
    assert one.random_raw() == other.random_raw()


def test_runs_of_a_stack_draw_their_own_masks_with_their_own_rates():
    x, weights = torch.randn(600, 4, dtype=torch.float64), torch.randn(3, 4, 6, dtype=torch.float64, requires_grad=True)
    rates = [0.0, 0.2, 0.7]
    with random_streams([Stream(run) for run in range(3)]):
        stacked = torch.vmap(dropped_product, in_dims=(None, 0, 0), randomness="different")(
            x, weights, torch.tensor(rates, dtype=torch.float64)
        )
    looped = torch.stack([written_out(x, weight, p, run) for run, (weight, p) in enumerate(zip(weights, rates, strict=True))])
    torch.testing.assert_close(stacked, looped)
    (of_stack,) = torch.autograd.grad(stacked.square().sum(), weights)
    (of_loop,) = torch.autograd.grad(looped.square().sum(), weights)
    torch.testing.assert_close(of_stack, of_loop)


@pytest.mark.parametrize("columns", [3, 20])
def test_a_linear_layer_with_dropout_is_dropout_then_the_layer(columns):
    layer, dropout, x = Linear(9, columns).double(), Dropout(0.4), torch.randn(50, 9, dtype=torch.float64)
    results = []
    for call in (lambda: layer(x, dropout), lambda: layer(dropout(x))):
        with random_streams([Stream(1)]):
            results.append(call())
    torch.testing.assert_close(*results)
    dropout.eval()
    torch.testing.assert_close(layer(x, dropout), layer(x))
