"""Buffers whose sizes are learned, such as the trees of a boosted model."""

from typing import Any

import torch
from torch import nn


class LearnedBuffers(nn.Module):
    """Buffers that are empty until they are learned; those of a saved model have the sizes that were saved.

    They stay as exact as they were learned, on the CPU, wherever the model is moved: nothing here runs elsewhere.
    """

    def learn(self, **values: Any) -> None:
        """Replace buffers, by name, with arrays or tensors of any size."""
        for name, value in values.items():
            setattr(self, name, torch.as_tensor(value))

    def _apply(self, fn, recurse=True):  # type: ignore[no-untyped-def]
        return self

    def _load_from_state_dict(self, state_dict, prefix, *more):  # type: ignore[no-untyped-def]
        for name, buffer in self.named_buffers(recurse=False):
            saved = state_dict.get(prefix + name)
            if saved is not None and saved.dtype == buffer.dtype and saved.dim() == buffer.dim():
                setattr(self, name, torch.empty_like(saved))
        super()._load_from_state_dict(state_dict, prefix, *more)
