"""Batch normalisation over nodes."""

from torch import nn


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation of N x C over the nodes, without torch's counter of batches: unused, and an integer among floats."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.register_buffer("num_batches_tracked", None)

    def _load_from_state_dict(self, *arguments, **more):  # type: ignore[no-untyped-def]
        # torch's method would add the counter to a state that has none.
        nn.Module._load_from_state_dict(self, *arguments, **more)

    def reset_running_stats(self) -> None:
        if self.running_mean is not None and self.running_var is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
