"""Models with random parameters."""

import torch


def randomised(model):
    """Random parameters and running statistics, in float64 and in evaluation mode."""
    model.double().eval()
    generator = torch.Generator().manual_seed(7)
    for name, value in model.state_dict().items():
        if name.endswith("running_var"):
            value.copy_(0.5 + torch.rand(value.shape, generator=generator, dtype=value.dtype))
        elif value.is_floating_point():
            value.copy_(0.5 * torch.randn(value.shape, generator=generator, dtype=value.dtype))
    return model
