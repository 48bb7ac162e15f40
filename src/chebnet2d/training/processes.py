"""Several processes of ``torchrun``, on one machine or many.

torchrun --nproc-per-node 2 -m chebnet2d train-bases DIR --method chebnet2d
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist


def under_torchrun() -> bool:
    """Whether this process is one of several that ``torchrun`` has started."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ


def process_rank() -> tuple[int, int]:
    """(number of this process, how many there are)."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_available() and dist.is_initialized() else (0, 1)


@contextmanager
def process_group(device: str | torch.device = "cpu") -> Iterator[None]:
    """Joined to the processes of ``torchrun``, by gloo, or by nccl on GPUs. Nothing to do if they are joined already."""
    if dist.is_initialized():
        yield
        return
    gpu = torch.device(device).type == "cuda"
    if gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if gpu else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()
