"""Random streams and the masks drawn from them, alone and in stacks."""

import numpy as np
import pytest
import torch

from chebnet2d.kernels.random_streams import Stream, keep_mask, random_streams, relu_dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_mask_has_the_right_law(p):
    mask = keep_mask((400, 500), torch.tensor(p), torch.zeros((), dtype=torch.float64))
    zero_rate = float((mask == 0).double().mean())
    assert zero_rate == pytest.approx(p, abs=5 * (p * (1 - p) / 200_000) ** 0.5)
    assert mask.mean().item() == pytest.approx(1, abs=0.05)
    assert mask.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=1e-3)
    rows = mask.reshape(-1, 4)  # lanes of one 64-bit draw are independent
    together = float(((rows[:, 0] == 0) & (rows[:, 1] == 0)).double().mean())
    assert together == pytest.approx(p * p, abs=5 * (p * p * (1 - p * p) / 50_000) ** 0.5)


def test_rate_zero_draws_nothing():
    stream = Stream(3)
    before = stream.state
    with random_streams([stream]):
        assert torch.equal(keep_mask((5,), torch.tensor(0.0), torch.zeros(())), torch.ones(5))
    np.testing.assert_equal(stream.state["state"], before["state"])


def test_runs_of_a_stack_draw_from_their_own_streams():
    rates = torch.tensor([0.5, 0.2, 0.7], dtype=torch.float64)
    like = torch.zeros((), dtype=torch.float64)

    def mask(streams, p):
        with random_streams(streams):
            return torch.func.vmap(lambda rate: keep_mask((40,), rate, like))(p)

    together = mask([Stream(s) for s in (1, 2, 3)], rates)
    reordered = mask([Stream(s) for s in (3, 1)], rates[[2, 0]])
    assert torch.equal(together[2], reordered[0])
    assert torch.equal(together[0], reordered[1])
    with random_streams([Stream(2)]):
        assert torch.equal(together[1], keep_mask((40,), rates[1], like))
    with random_streams([Stream(1)]), pytest.raises(RuntimeError, match="3 runs draw, but 1 random streams are set"):
        torch.func.vmap(lambda rate: keep_mask((4,), rate, like))(rates)


def test_without_streams_torch_seeds_the_draw():
    torch.manual_seed(5)
    first = keep_mask((50,), torch.tensor(0.5), torch.zeros(()))
    torch.manual_seed(5)
    assert torch.equal(first, keep_mask((50,), torch.tensor(0.5), torch.zeros(())))
    assert not torch.equal(first, keep_mask((50,), torch.tensor(0.5), torch.zeros(())))


def test_relu_and_dropout_of_a_stack():
    x = torch.randn(3, 6, 5, dtype=torch.float64, requires_grad=True)
    rates = torch.tensor([0.5, 0.0, 0.2], dtype=torch.float64)
    with random_streams([Stream(s) for s in (1, 2, 3)]):
        together = torch.func.vmap(relu_dropout)(x, rates)
    alone = []
    for r in range(3):
        with random_streams([Stream(r + 1)]):
            alone.append(relu_dropout(x[r], rates[r]))
    torch.testing.assert_close(together, torch.stack(alone))
    ours, theirs = (torch.autograd.grad((y**2).sum(), x)[0] for y in (together, torch.stack(alone)))
    torch.testing.assert_close(ours, theirs)
