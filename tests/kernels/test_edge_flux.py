"""The flux along edges in blocks, against dense autograd with the same masks."""

import pytest
import torch

from chebnet2d.data import csbm
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.kernels.edge_flux import EdgeBlocks, edge_flux
from chebnet2d.kernels.random_streams import Stream, keep_mask, random_streams
from chebnet2d.models.pdegcn import Flux, edge_gradient


def case(channels, runs=None):
    data = csbm(60, 3, 4, degree=5, seed=1)
    generator = torch.Generator().manual_seed(channels)
    lead = () if runs is None else (runs,)
    x = torch.randn(*lead, 60, channels, dtype=torch.float64, generator=generator)
    weight = torch.randn(*lead, channels, channels, dtype=torch.float64, generator=generator)
    operator = operator_of(data.edge_index, None, data.x.double(), kind="P~", owner="t")
    return edge_gradient(operator), x.requires_grad_(), weight.requires_grad_()


def small_blocks(gradient, size):
    matrix = gradient.to_scipy()
    parts = [SparseOperator.from_scipy(matrix[i : i + size], dtype=torch.float64) for i in range(0, matrix.shape[0], size)]
    return EdgeBlocks(matrix.shape[0], tuple((part, part.T) for part in parts))


def dense_flux(gradient, x, weight, p):
    g = gradient.to_dense()
    return g.T @ ((g @ x) * keep_mask((g.shape[0], x.shape[1]), p, x) @ weight.T).relu()


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.999])
@pytest.mark.parametrize("channels", [1, 3, 8])
def test_blocks_and_their_gradients_are_those_of_dense_autograd(channels, rate):
    gradient, x, weight = case(channels)
    p = torch.tensor(rate, dtype=torch.float64)
    assert gradient.shape[0] % 16  # the last block is a part of one
    out_grad = torch.randn(x.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    with random_streams([Stream(3)]):
        expected = dense_flux(gradient, x, weight, p)
    expected_grads = torch.autograd.grad(expected, (x, weight), out_grad)
    for blocks in (EdgeBlocks.of(gradient), small_blocks(gradient, 16)):
        with random_streams([Stream(3)]):
            out = edge_flux(blocks, x, weight, p)
        torch.testing.assert_close(out, expected, rtol=0, atol=1e-12 / (1 - rate))
        grads = torch.autograd.grad(out, (x, weight), out_grad)
        for one, other in zip(grads, expected_grads, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-12 / (1 - rate) ** 2)


def test_a_stack_is_its_runs_one_after_the_other():
    gradient, x, weight = case(5, runs=3)
    p = torch.tensor([0.0, 0.5, 0.7], dtype=torch.float64)
    blocks = small_blocks(gradient, 24)
    with random_streams([Stream(r) for r in range(3)]):
        stacked = torch.func.vmap(lambda *run: edge_flux(blocks, *run), randomness="different")(x, weight, p)
    looped = []
    for r in range(3):
        with random_streams([Stream(r)]):
            looped.append(edge_flux(blocks, x[r], weight[r], p[r]))
    torch.testing.assert_close(stacked, torch.stack(looped), rtol=0, atol=1e-13)
    cube = [torch.autograd.grad((out**3).sum(), (x, weight)) for out in (stacked, torch.stack(looped))]
    for one, other in zip(*cube, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_an_operator_without_edges_has_no_flux():
    layer = Flux(4, 0.5, "relu").double()
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    nothing = SparseOperator.from_dense(torch.eye(5, dtype=torch.float64))
    out = layer(x, nothing)
    out.sum().backward()
    assert out.shape == (5, 4)
    assert not out.any()
    assert not x.grad.any()
