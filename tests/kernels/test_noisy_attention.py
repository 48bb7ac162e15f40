"""Attention with noise in one function against the plain formula, in values and gradients."""

import pytest
import torch

from chebnet2d.kernels.noisy_attention import noisy_attention


@pytest.mark.parametrize("stacked", [False, True])
def test_noisy_attention_is_the_plain_formula_with_its_gradients(stacked):
    generator = torch.Generator().manual_seed(1)
    shapes = [(7, 2, 5), (7, 2, 5), (7, 2, 3), (7, 2, 4)]
    parts = [torch.rand(3 if stacked else 1, *shape, generator=generator, dtype=torch.float64) + 0.1 for shape in shapes]
    *inputs, noise = [part.requires_grad_() for part in parts[:3]] + parts[3:]

    def plain(query, key, value, noise):
        weights = torch.einsum("nhm,jhm,jhs->nhjs", query, key, noise)
        return torch.einsum("nhjs,jhd->nhd", weights / weights.sum(dim=2, keepdim=True), value) / noise.shape[2]

    wanted = torch.stack([plain(*run) for run in zip(*inputs, noise, strict=True)])
    found = torch.func.vmap(noisy_attention)(*inputs, noise) if stacked else noisy_attention(*(part[0] for part in parts))[None]
    torch.testing.assert_close(found, wanted)
    direction = torch.randn(wanted.shape, generator=generator, dtype=torch.float64)
    gradients = [torch.autograd.grad((out * direction).sum(), inputs) for out in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)
