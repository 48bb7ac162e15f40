"""The products of a sparse operator with dense matrices."""

import torch

from chebnet2d.graph.sparse_product import SampledProduct, SparseProduct, WeightedProduct
from kernel_suite import Case, KernelSuite, draw, graph, sparse

COLUMNS = 5


def operator_of_size(nodes, square):
    return graph(nodes) if square else sparse(nodes, COLUMNS, per_row=2)


def positions(operator):
    return tuple(torch.from_numpy(index).long() for index in operator.to_scipy().tocoo().coords)


class TestSparseProduct(KernelSuite):
    functions = (SparseProduct,)
    twice = True
    variants = {"rectangular": {"square": False}, "symmetric": {"square": True}}  # noqa: RUF012

    @classmethod
    def case(cls, nodes, square):
        operator = operator_of_size(nodes, square)
        dense = operator.to_dense()
        return Case(lambda x: operator @ x, lambda x: dense @ x, lambda seed: (draw(operator.shape[1], 3, seed=seed),))


class TestWeightedProduct(KernelSuite):
    functions = (WeightedProduct,)
    twice = True
    variants = {  # noqa: RUF012
        "rectangular": {"square": False},
        "symmetric": {"square": True},
        "constant values": {"square": True, "constant": True},
    }

    @classmethod
    def case(cls, nodes, square, constant=False):
        operator = operator_of_size(nodes, square)

        def truth(values, x):
            return torch.zeros(operator.shape, dtype=torch.float64).index_put(positions(operator), values) @ x

        return Case(
            operator.weighted_product,
            truth,
            lambda seed: (draw(operator.nnz, seed=seed), draw(operator.shape[1], 3, seed=seed + 10)),
            constant=(0,) if constant else (),
        )


class TestSampledProduct(KernelSuite):
    functions = (SampledProduct,)
    variants = {"matrices": {"groups": ()}, "groups of matrices": {"groups": (2,)}}  # noqa: RUF012

    @classmethod
    def case(cls, nodes, groups):
        operator = operator_of_size(nodes, square=False)
        rows, columns = positions(operator)
        return Case(
            operator.sampled_product,
            lambda left, right: (left @ right.mT)[..., rows, columns],
            lambda seed: (draw(*groups, nodes, 4, seed=seed), draw(*groups, COLUMNS, 4, seed=seed + 10)),
        )
