"""dropout(x) W in blocks of rows: against the mask written out, from the same stream."""

import pytest
import torch

from chebnet2d.kernels import Stream, dropped_product, keep_mask, random_streams
from chebnet2d.kernels.dropped_product import _DroppedProduct
from kernel_suite import Case, KernelSuite, agree, draw, rate


class TestDroppedProduct(KernelSuite):
    functions = (_DroppedProduct,)
    variants = {"dropout": {}, "no dropout": {"first": 1}, "most dropped": {"first": 2}}  # noqa: RUF012

    @classmethod
    def case(cls, nodes, first=0):
        return Case(
            dropped_product,
            lambda x, weight, p: (x * keep_mask(x.shape, p, x)) @ weight,
            lambda seed: (draw(nodes, 13, seed=seed), draw(13, 5, seed=seed + 10), rate(seed + first)),
            constant=(2,),
        )


@pytest.mark.parametrize("rows", [511, 512, 513])
def test_rows_around_a_block(rows):
    case = TestDroppedProduct.case(rows)
    agree(case, case.leaves()[0])


def test_the_stream_continues_where_the_mask_written_out_leaves_it():
    x, half = torch.randn(700, 3), torch.tensor(0.5, dtype=torch.float64)
    one, other = Stream(5), Stream(5)
    with random_streams([one]):
        dropped_product(x, torch.randn(3, 2), half)
    with random_streams([other]):
        keep_mask(x.shape, half, x)
    assert one.random_raw() == other.random_raw()
