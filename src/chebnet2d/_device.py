"""The device on which a computation runs."""

import torch
from torch import nn

from chebnet2d._checks import InputError


def checked_device(owner: str, device: str | torch.device | None, model: nn.Module | None = None) -> torch.device:
    """The device, if this machine has it; by default the device of the model's parameters, or the CPU."""
    if device is None:
        parameters = iter(()) if model is None else model.parameters()
        return next((parameter.device for parameter in parameters), torch.device("cpu"))
    try:
        where = torch.device(device)
    except (RuntimeError, TypeError):
        raise InputError(owner, "device", "'cpu', 'cuda' or 'cuda:N'", device) from None
    if where.type == "cuda" and not torch.cuda.is_available():
        got = f"{str(device)!r} and no CUDA device"
        raise InputError(owner, "device", "one that this machine has", got=got, hint="Use 'cpu'.")
    return where
