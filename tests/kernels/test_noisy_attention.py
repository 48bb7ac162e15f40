"""Attention under samples of noise, against the plain formula."""

import torch

from chebnet2d.kernels import noisy_attention
from chebnet2d.kernels.noisy_attention import _NoisyAttention
from kernel_suite import Case, KernelSuite, draw


def plain(query, key, value, noise):
    weights = torch.einsum("nhm,jhm,jhs->nhjs", query, key, noise)
    return torch.einsum("nhjs,jhd->nhd", weights / weights.sum(dim=2, keepdim=True), value) / noise.shape[2]


class TestNoisyAttention(KernelSuite):
    functions = (_NoisyAttention,)
    variants = {"two heads": {"heads": 2}, "one head": {"heads": 1, "samples": 1}}  # noqa: RUF012

    @classmethod
    def case(cls, nodes, heads, samples=4):
        widths = (5, 5, 3, samples)
        return Case(
            noisy_attention,
            plain,
            lambda seed: [draw(nodes, heads, width, seed=seed + 10 * i).abs() + 0.1 for i, width in enumerate(widths)],
            constant=(3,),
        )
