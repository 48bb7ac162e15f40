"""What a model answers, checked once: failures would surface deep inside torch."""

from typing import Any

from torch import Tensor

from chebnet2d._checks import InputError


def check_logits(owner: str, logits: Tensor, y: Tensor) -> None:
    """``logits``: R x N x C, for N labels."""
    if logits.dim() != 3 or logits.shape[1] != y.numel():
        shape = tuple(logits.shape[1:])
        raise InputError(owner, "the model", f"{y.numel()} x C logits", got=f"shape {shape}", verb="return")
    if y.numel() and int(y.max()) >= logits.shape[2]:
        hint = "Build the model with out_channels = number of classes."
        raise InputError(owner, "labels", f"below the model's {logits.shape[2]} classes", got=str(int(y.max())), hint=hint)


def logits_of(answer: Any) -> Tensor:
    """Of a model that returns logits, or (logits, penalty)."""
    logits: Tensor = answer[0] if isinstance(answer, tuple) else answer
    return logits
