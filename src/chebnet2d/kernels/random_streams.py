"""Random masks and samples from one stream per run, so that what a run draws depends on its seed only."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._stacks import StackFunction

Stream = np.random.SFC64
"""The bit generator of a run: 64 random bits in about 1.5 ns."""

_WORDS = 2**16
_active: ContextVar[Sequence[Stream] | None] = ContextVar("chebnet2d_random_streams", default=None)


def stream_numbers(stream: Stream) -> list[int]:
    """Where the stream is, as numbers that a file can hold."""
    state: Any = stream.state
    return [*map(int, state["state"]["state"]), int(state["has_uint32"]), int(state["uinteger"])]


def set_stream(stream: Stream, numbers: Sequence[int]) -> None:
    """Bring the stream to where ``stream_numbers`` was asked."""
    *words, half, rest = numbers
    inside: Any = {"state": np.array(words, dtype=np.uint64)}
    stream.state = {"bit_generator": "SFC64", "state": inside, "has_uint32": half, "uinteger": rest}


@contextmanager
def random_streams(streams: Sequence[Stream]) -> Iterator[None]:
    """In this context run r of a stack (or the only run) draws from ``streams[r]``; outside, torch's generator seeds draws."""
    token = _active.set(streams)
    try:
        yield
    finally:
        _active.reset(token)


def keep_mask(shape: Sequence[int], p: Tensor, like: Tensor) -> Tensor:
    """A tensor of ``shape``: 0 with probability p, else 1 / (1 - p), independently per element; p is a 0-dimensional tensor.

    ``like`` gives the dtype and the device. Under ``vmap`` every run draws its own mask from its own stream, with its own p where
    p is stacked.
    """
    return _KeepMask.apply(p, tuple(shape), like.dtype, like.device)


def random_tensor(sample: Callable[[np.random.Generator], Any], like: Tensor) -> Tensor:
    """What ``sample`` draws (an array, always of the same shape), with the dtype and on the device of ``like``.

    Under ``vmap`` every run draws from its own stream. ``like`` must differ between runs (say, depend on their parameters): for a
    tensor that all runs share, ``vmap`` does not call the rule below, and nothing shows that there is a stack.
    """
    return _Drawn.apply(like, sample)


class _Constant(StackFunction):
    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.mark_non_differentiable(output)


class _Drawn(_Constant):
    @staticmethod
    def forward(like: Tensor, sample: Callable[[np.random.Generator], Any]) -> Tensor:
        return torch.from_numpy(sample(np.random.Generator(streams_of(1)[0]))).to(like)

    @staticmethod
    def vmap(info: Any, in_dims: Any, like: Tensor, sample: Callable[[np.random.Generator], Any]) -> tuple[Tensor, int]:
        drawn = [torch.from_numpy(sample(np.random.Generator(stream))) for stream in streams_of(info.batch_size)]
        return torch.stack(drawn).to(like), 0


class _KeepMask(_Constant):
    """p: a number, or R numbers for a stack of masks."""

    @staticmethod
    def forward(p: Tensor, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
        out = torch.empty((*p.shape, *shape), dtype=dtype)
        for stream, run in zip(streams_of(p.numel()), dropout_runs(p, out), strict=True):
            draw_mask(stream, *run)
        return out.to(device)


def streams_of(runs: int) -> Sequence[Stream]:
    """One stream per run: the active ones, or new ones seeded by torch's generator."""
    streams = _active.get()
    if streams is None:
        return [Stream(seed) for seed in torch.randint(2**63 - 1, (runs,)).tolist()]
    if len(streams) != runs:
        raise RuntimeError(f"{runs} runs draw, but {len(streams)} random streams are set")
    return streams


def threshold_of(p: Tensor) -> Tensor:
    """The rate in 65536ths, as masks are drawn. The scale is computed from this rounded rate, so that the mean is exactly 1."""
    return (p * 65536).round().clamp(max=65535)


def keep_scale(threshold: Any) -> Any:
    """1 / (1 - p), for a threshold or a tensor of thresholds."""
    return 65536 / (65536 - threshold)


def dropout_runs(p: Tensor, *tensors: Tensor) -> Iterator[tuple[Any, ...]]:
    """Per run: the threshold of its dropout and its part of each tensor. A 0-dimensional p means one run."""
    thresholds = [int(threshold) for threshold in threshold_of(p).reshape(-1)]
    if p.dim() == 0:
        yield (thresholds[0], *tensors)
    else:
        yield from zip(thresholds, *tensors, strict=True)


def keep_bytes(stream: Stream, threshold: int, count: int) -> Any:
    """``count`` bytes: 0 with probability threshold / 65536, else 1. If 4 does not divide count, the rest of a draw is lost."""
    # 64 random bits are four 16-bit numbers, each compared with the threshold: 20 times cheaper than a uniform float per element.
    # Bytes, not booleans: torch takes eight times as long to convert those.
    return (stream.random_raw((count + 3) // 4).view(np.uint16)[:count] >= threshold).view(np.uint8)


def write_mask(kept: Any, out: Tensor) -> Tensor:
    """``out``, filled with the bytes of a mask as numbers."""
    return out.copy_(torch.from_numpy(kept).view_as(out))


def draw_mask(stream: Stream, threshold: int, out: Tensor) -> None:
    """Fills ``out``, which is contiguous, with 0 (probability threshold / 65536) and the scale of what is kept."""
    if threshold == 0:
        out.fill_(1.0)
        return
    # In parts: large short-lived arrays between the long-lived ones of a training step would fragment the heap.
    for part in out.view(-1).split(4 * _WORDS):
        write_mask(keep_bytes(stream, threshold, part.numel()), part).mul_(keep_scale(threshold))
