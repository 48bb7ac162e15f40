"""Masks and samples from one stream per run, and dropout of relu(x) in one function."""

import numpy as np
import pytest
import torch

from chebnet2d.kernels import Stream, keep_mask, random_streams, random_tensor, relu_dropout
from chebnet2d.kernels.random_streams import _Drawn, _KeepMask, streams_of
from chebnet2d.kernels.relu_dropout import _ReluDropout
from kernel_suite import Case, KernelSuite, draw, rate

LIKE = torch.zeros((), dtype=torch.float64)


def plain_mask(shape, p):
    """64 random bits are four numbers of 16 bits, each kept if it reaches 65536 p."""
    if p == 0:
        return torch.ones(shape, dtype=torch.float64)
    threshold, count = round(65536 * float(p)), int(np.prod(shape))
    draws = streams_of(1)[0].random_raw(-(-count // 4)).view(np.uint16)[:count]
    return torch.from_numpy((draws >= threshold) * (65536 / (65536 - threshold))).view(shape)


class TestKeepMask(KernelSuite):
    functions = (_KeepMask,)
    variants = {"dropout": {}, "no dropout": {"first": 1}}  # noqa: RUF012

    @classmethod
    def case(cls, nodes, first=0):
        return Case(
            lambda p: keep_mask((nodes, 3), p, LIKE),
            lambda p: plain_mask((nodes, 3), p),
            lambda seed: (rate(seed + first),),
            constant=(0,),
        )


class TestRandomTensor(KernelSuite):
    functions = (_Drawn,)

    @classmethod
    def case(cls, nodes):
        return Case(
            lambda like: random_tensor(lambda generator: generator.gumbel(size=(nodes, 2)), like),
            lambda like: torch.from_numpy(np.random.Generator(streams_of(1)[0]).gumbel(size=(nodes, 2))),
            lambda seed: (draw(3, seed=seed),),
            constant=(0,),
        )


class TestReluDropout(KernelSuite):
    functions = (_ReluDropout,)
    twice = True
    variants = {"dropout": {}, "no dropout": {"first": 1}, "most dropped": {"first": 2}}  # noqa: RUF012

    @classmethod
    def case(cls, nodes, first=0):
        return Case(
            relu_dropout,
            lambda x, p: x.relu() * plain_mask(x.shape, p),
            lambda seed: (draw(nodes, 5, seed=seed), rate(seed + first)),
            constant=(1,),
        )


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_mask_has_the_right_distribution(p):
    mask = keep_mask((400, 500), torch.tensor(p), LIKE)
    zero_rate = float((mask == 0).double().mean())
    assert zero_rate == pytest.approx(p, abs=5 * (p * (1 - p) / 200_000) ** 0.5)
    assert mask.mean().item() == pytest.approx(1, abs=0.05)
    assert mask.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=1e-3)
    rows = mask.reshape(-1, 4)  # the four numbers of one 64-bit draw are independent
    together = float(((rows[:, 0] == 0) & (rows[:, 1] == 0)).double().mean())
    assert together == pytest.approx(p * p, abs=5 * (p * p * (1 - p * p) / 50_000) ** 0.5)


def test_rate_zero_draws_nothing():
    stream = Stream(3)
    before = stream.state
    with random_streams([stream]):
        assert torch.equal(keep_mask((5,), torch.tensor(0.0), LIKE), torch.ones(5, dtype=torch.float64))
    np.testing.assert_equal(stream.state["state"], before["state"])


def test_what_a_run_draws_does_not_depend_on_the_other_runs():
    rates = torch.tensor([0.5, 0.2, 0.7], dtype=torch.float64)

    def mask(streams, p):
        with random_streams(streams):
            return torch.func.vmap(lambda rate: keep_mask((40,), rate, LIKE))(p)

    together = mask([Stream(s) for s in (1, 2, 3)], rates)
    reordered = mask([Stream(s) for s in (3, 1)], rates[[2, 0]])
    assert torch.equal(together[2], reordered[0])
    assert torch.equal(together[0], reordered[1])
    with random_streams([Stream(1)]), pytest.raises(RuntimeError, match="3 runs draw, but 1 random streams are set"):
        torch.func.vmap(lambda rate: keep_mask((4,), rate, LIKE))(rates)


def test_without_streams_torch_seeds_the_draw():
    half = torch.tensor(0.5)
    torch.manual_seed(5)
    first = keep_mask((50,), half, LIKE)
    torch.manual_seed(5)
    assert torch.equal(first, keep_mask((50,), half, LIKE))
    assert not torch.equal(first, keep_mask((50,), half, LIKE))
