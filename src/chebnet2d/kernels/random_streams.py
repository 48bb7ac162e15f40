"""Where random masks come from: one stream for each run, so that what a run draws depends on nothing but its seed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._stacks import with_runs

Stream = np.random.SFC64
"""A bit generator; 64 bits at a time in about 1.5 ns."""

_WORDS = 2**16
_active: ContextVar[Sequence[Stream] | None] = ContextVar("chebnet2d_random_streams", default=None)


@contextmanager
def random_streams(streams: Sequence[Stream]) -> Iterator[None]:
    """Within, run r of a stack (or the only run) draws from ``streams[r]``. Outside, torch's generator seeds each draw."""
    token = _active.set(streams)
    try:
        yield
    finally:
        _active.reset(token)


def keep_mask(shape: Sequence[int], p: Tensor, like: Tensor) -> Tensor:
    """0 with probability p, else 1 / (1 - p), independently for each element; p is a number in a tensor.

    Under ``vmap`` every run draws its own mask from its own stream, with its own p where p is stacked.
    """
    mask: Tensor = _KeepMask.apply(p, tuple(shape), like.dtype, like.device)
    return mask


def random_tensor(sample: Callable[[np.random.Generator], Any], like: Tensor) -> Tensor:
    """What ``sample`` draws (an array, always of one shape), in the precision and on the device of ``like``.

    Under ``vmap`` every run draws from its own stream. ``like`` must depend on the parameters of the run: from tensors that
    all runs share nobody can tell that there is a stack.
    """
    drawn: Tensor = _Drawn.apply(like, sample)
    return drawn


class _Drawn(torch.autograd.Function):
    @staticmethod
    def forward(like: Tensor, sample: Callable[[np.random.Generator], Any]) -> Tensor:
        return torch.from_numpy(sample(np.random.Generator(streams_of(1)[0]))).to(like)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.mark_non_differentiable(output)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None]:
        return None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, like: Tensor, sample: Callable[[np.random.Generator], Any]) -> tuple[Tensor, int]:
        drawn = [torch.from_numpy(sample(np.random.Generator(stream))) for stream in streams_of(info.batch_size)]
        return torch.stack(drawn).to(like), 0


class _KeepMask(torch.autograd.Function):
    @staticmethod
    def forward(p: Tensor, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
        streams = streams_of(1)
        out = torch.empty(shape, dtype=dtype)
        _draw(streams[0], float(p), out)
        return out.to(device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.mark_non_differentiable(output)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, None, None]:
        return None, None, None, None

    @staticmethod
    def vmap(
        info: Any, in_dims: Any, p: Tensor, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device
    ) -> tuple[Tensor, int]:
        rates = [float(p)] * info.batch_size if in_dims[0] is None else [float(rate) for rate in p]
        out = torch.empty((info.batch_size, *shape), dtype=dtype)
        for rate, stream, run in zip(rates, streams_of(info.batch_size), out, strict=True):
            _draw(stream, rate, run)
        return out.to(device), 0


def relu_dropout(x: Tensor, p: Tensor) -> Tensor:
    """``relu(x) * keep_mask(x.shape, p)``, of which only the result is kept: where it is positive, the gradient passes."""
    out: Tensor = _ReluDropout.apply(x, p)
    return out


class _ReluDropout(torch.autograd.Function):
    """x: N x H and p a number, or R x N x H and R numbers. One run at a time: its part of the stack stays in the cache."""

    @staticmethod
    def forward(x: Tensor, p: Tensor) -> Tensor:
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        stacked = p.dim() == 1
        runs = zip(x, p.tolist(), out, strict=True) if stacked else [(x, float(p), out)]
        for stream, (run, rate, result) in zip(streams_of(p.numel()), runs, strict=True):
            _draw(stream, rate, result)
            result.mul_(run.relu())
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output, inputs[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        out, p = ctx.saved_tensors
        scale = keep_scale(threshold_of(p))
        return torch.ops.aten.threshold_backward(grads[0], out, 0) * scale.to(out)[..., None, None], None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, p: Tensor) -> tuple[Tensor, int]:
        return _ReluDropout.apply(*with_runs(info, in_dims, x, p)), 0


def streams_of(runs: int) -> Sequence[Stream]:
    """One stream for each run."""
    streams = _active.get()
    if streams is None:
        seeds = torch.randint(2**63 - 1, (runs,)).tolist()
        return [Stream(seed) for seed in seeds]
    if len(streams) != runs:
        raise RuntimeError(f"{runs} runs draw, but {len(streams)} random streams are set")
    return streams


def threshold_of(p: Tensor) -> Tensor:
    """The rate in 65536ths, as it is drawn: the scale belongs to the rounded rate, so that the mean is exactly 1."""
    return (p * 65536).round().clamp(max=65535)


def keep_scale(threshold: Any) -> Any:
    """1 / (1 - p) of what is kept, for a threshold or a tensor of them."""
    return 65536 / (65536 - threshold)


def dropout_runs(p: Tensor, *tensors: Tensor) -> Iterator[tuple[Any, ...]]:
    """(threshold of dropout, part of each tensor) of each run; of the only one where p is a number."""
    thresholds = [int(threshold) for threshold in threshold_of(p).reshape(-1)]
    if p.dim() == 0:
        yield (thresholds[0], *tensors)
    else:
        yield from zip(thresholds, *tensors, strict=True)


def keep_bytes(stream: Stream, threshold: int, count: int) -> Any:
    """0 with probability threshold / 65536, else 1: ``count`` bytes. A count that 4 does not divide wastes bits of the stream."""
    # 64 random bits are four 16-bit numbers, each compared with a threshold: 20 times cheaper than a uniform float an element.
    # Bytes and not booleans, which torch takes eight times as long to convert.
    return (stream.random_raw((count + 3) // 4).view(np.uint16)[:count] >= threshold).view(np.uint8)


def _draw(stream: Stream, p: float, out: Tensor) -> None:
    threshold = int(threshold_of(torch.tensor(p, dtype=torch.float64)))
    if threshold == 0:
        out.fill_(1.0)
        return
    # Bit by bit: large short-lived arrays between the long-lived ones of a training step would tear holes into the heap.
    for part in out.view(-1).split(4 * _WORDS):
        part.copy_(torch.from_numpy(keep_bytes(stream, threshold, part.numel()))).mul_(keep_scale(threshold))
