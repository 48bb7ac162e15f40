"""Constants of a module that are exact in every precision."""

import torch
from torch import Tensor, nn


class ExactBuffers(nn.Module):
    """Keeps constants in float64 and rounds them again whenever the module changes its dtype.

    A plain buffer would be rounded to float32 when it is made, and ``.double()`` would only widen the rounded number. The
    constants are buffers, so that they may differ between the runs of a stack; they are not saved.
    """

    def register_exact(self, name: str, value: Tensor) -> None:
        """``self.<name>`` is ``value``, rounded to the dtype of the module."""
        exact = self.__dict__.setdefault("_exact_values", {})
        exact[name] = value.to(torch.float64)
        self.register_buffer(name, value.to(torch.get_default_dtype()), persistent=False)

    def exact_value(self, name: str) -> Tensor:
        """The constant in float64, of the shape that it was registered with."""
        value: Tensor = self.__dict__["_exact_values"][name]
        return value

    def _apply(self, fn, recurse=True):  # type: ignore[no-untyped-def]
        super()._apply(fn, recurse)
        for name, value in self.__dict__.get("_exact_values", {}).items():
            buffer = getattr(self, name)
            setattr(self, name, value.to(buffer.device, buffer.dtype))
        return self
