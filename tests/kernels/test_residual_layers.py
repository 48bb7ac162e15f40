"""Residual layers with dropout in one function, against dense operations with the same masks."""

from chebnet2d.kernels import keep_mask, residual_layers
from chebnet2d.kernels.residual_layers import _Layers
from kernel_suite import Case, KernelSuite, draw, graph, rate

ALPHA = 0.3


def dense_layers(dense, hidden, start, maps, p):
    for number, layer_map in enumerate(maps):
        if number:
            hidden = hidden * keep_mask(hidden.shape, p, hidden)
        hidden = (((1 - ALPHA) * dense @ hidden + ALPHA * start) @ layer_map).relu()
    return hidden


class TestResidualLayers(KernelSuite):
    functions = (_Layers,)
    variants = {"four layers": {"layers": 4}, "one layer": {"layers": 1}, "no dropout": {"layers": 3, "first": 1}}  # noqa: RUF012

    @classmethod
    def case(cls, nodes, layers, first=0):
        operator = graph(nodes)
        dense = operator.to_dense()
        return Case(
            lambda *given: residual_layers(operator, *given, ALPHA),
            lambda *given: dense_layers(dense, *given),
            lambda seed: (
                draw(nodes, 3, seed=seed),
                draw(nodes, 3, seed=seed + 10),
                draw(layers, 3, 3, seed=seed + 20),
                rate(seed + first),
            ),
            constant=(3,),
        )
