"""Parameters of R runs side by side, and the two passes over them: one model, one graph, one set of features for all.

Plain modules go in. ``torch.func`` turns a module into a function of its parameters, ``vmap`` maps it over the stack, and the
sparse products, the fused convolution and dropout have rules that fold runs into columns. A stack of one skips ``vmap``.
"""

import copy
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from chebnet2d.kernels.random_streams import Stream, random_streams
from chebnet2d.nn import Dropout
from chebnet2d.training.settings import Settings


def shard_streams(seed: int, shards: int) -> list[Stream]:
    """A random stream per shard of a run's batches; that of the first is the stream of the run."""
    return [Stream(np.random.SeedSequence(seed, spawn_key=(1,) if s == 0 else (1, s))) for s in range(shards)]


def stack_group(model: nn.Module) -> Hashable:
    """Models with equal groups may share a stack: one module stands for all of them, with parameters and buffers per run."""
    shapes = tuple((name, value.shape) for name, value in [*model.named_parameters(), *model.named_buffers()])
    return type(model), getattr(model, "stack_key", ()), shapes


class Stack:
    """R runs of one model class and shape (``stack_group``). ``keep`` drops runs that are done; the order of the rest stays."""

    def __init__(self, models: Sequence[nn.Module], settings: Sequence[Settings], streams: Sequence[Stream]) -> None:
        self.template = copy.deepcopy(models[0])
        for ours, theirs in zip(self.template.modules(), zip(*(model.modules() for model in models), strict=True), strict=True):
            if isinstance(ours, Dropout):  # a mask is drawn as soon as one run of the stack has a rate
                ours.active = any(module.active for module in theirs if isinstance(module, Dropout))
        self.params = _stacked([dict(model.named_parameters()) for model in models])
        constants, states = _buffers(models)
        self.constants = constants
        self.states = states
        self.settings = list(settings)
        self.streams = list(streams)
        self.adam = {name: _AdamState(param) for name, param in self.params.items()}
        self._group_of = getattr(self.template, "group_of", lambda _: "weights")
        on_validation: frozenset[str] = getattr(self.template, "on_validation", frozenset())
        self.on_validation = [name for name in self.params if self._group_of(name) in on_validation]
        """Parameters that the loss of the training nodes does not move."""

    @property
    def runs(self) -> int:
        return len(self.settings)

    def forward(self, inputs: Sequence[Any], *, training: bool) -> tuple[Tensor, Tensor | None]:
        """Logits R x N x C, and the sum of the models' own penalties where they return (logits, penalty)."""
        self.template.train(training)
        with random_streams(self.streams):
            if self.runs == 1:
                # A view without a slice: the gradient of ``value[0]`` would be an array of zeros with a copy in it.
                state = {name: value.squeeze(0) for name, value in {**self.params, **self.states}.items()}
                out = torch.func.functional_call(self.template, {**state, **self.constants}, tuple(inputs))
                logits, penalty = out if isinstance(out, tuple) else (out, None)
                return logits.unsqueeze(0), penalty

            def one_run(state: dict[str, Tensor]) -> Any:
                return torch.func.functional_call(self.template, {**state, **self.constants}, tuple(inputs))

            out = torch.func.vmap(one_run, randomness="different")({**self.params, **self.states})
            logits, penalty = out if isinstance(out, tuple) else (out, None)
            return logits, None if penalty is None else penalty.sum()

    def step(self, loss: Tensor, *, on_validation: bool = False) -> None:
        """One step of Adam on the sum of the runs' losses: each run's parameters see the gradient of its own loss."""
        names = [name for name in self.params if (name in self.on_validation) == on_validation]
        gradients = torch.autograd.grad(loss, [self.params[name] for name in names], allow_unused=True)
        with torch.no_grad():
            for name, gradient in zip(names, gradients, strict=True):
                if gradient is not None:
                    self._update(name, gradient.contiguous())

    def _update(self, name: str, gradient: Tensor) -> None:
        param, state = self.params[name], self.adam[name]
        group = self._group_of(name)
        wanted = [(setting.group(group), setting.optimizer) for setting in self.settings]
        # Runs with the same numbers are updated in one pass; others one by one, each in its own part of memory.
        slices = [slice(None)] if len(set(wanted)) == 1 else [slice(r, r + 1) for r in range(self.runs)]
        for part, (numbers, optimizer) in zip(slices, wanted, strict=False):
            adam(
                [param.detach()[part]],
                [gradient[part]],
                [state.mean[part]],
                [state.square[part]],
                [],
                [state.step.clone()],
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                eps=1e-8,
                maximize=False,
                lr=numbers.lr,
                weight_decay=numbers.weight_decay,
                decoupled_weight_decay=optimizer == "adamw",
            )
        state.step += 1

    def keep(self, runs: Sequence[int]) -> None:
        index = torch.tensor(runs, dtype=torch.long)
        self.params = {name: value.detach()[index].requires_grad_(value.requires_grad) for name, value in self.params.items()}
        self.states = {name: value[index] for name, value in self.states.items()}
        for state in self.adam.values():
            state.mean, state.square = state.mean[index], state.square[index]
        self.settings = [self.settings[r] for r in runs]
        self.streams = [self.streams[r] for r in runs]

    def snapshot(self, run: int) -> dict[str, Tensor]:
        """A copy of one run's parameters and persistent buffers."""
        return {name: value[run].detach().clone() for name, value in {**self.params, **self.states}.items()}

    def state(self) -> dict[str, Tensor]:
        """Of a stack of one: its parameters and buffers, and what Adam holds of each parameter."""
        kept = self.snapshot(0)
        for name, adam_state in self.adam.items():
            moments = {"mean": adam_state.mean[0], "square": adam_state.square[0], "step": adam_state.step}
            kept |= {f"{kind}/{name}": value.clone() for kind, value in moments.items()}
        return kept

    def restore(self, kept: dict[str, Tensor]) -> None:
        """Back to where ``state`` was asked."""
        with torch.no_grad():
            for name, value in {**self.params, **self.states}.items():
                if name in kept:  # dropout rates are no state of a module, and are as they were
                    value.copy_(kept[name].unsqueeze(0))
            for name, adam_state in self.adam.items():
                adam_state.mean.copy_(kept[f"mean/{name}"].unsqueeze(0))
                adam_state.square.copy_(kept[f"square/{name}"].unsqueeze(0))
                adam_state.step.copy_(kept[f"step/{name}"])


class _AdamState:
    def __init__(self, param: Tensor) -> None:
        self.mean = torch.zeros_like(param, memory_format=torch.contiguous_format)
        self.square = torch.zeros_like(param, memory_format=torch.contiguous_format)
        self.step = torch.zeros((), dtype=torch.float32)


def _stacked(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {
        name: torch.stack([state[name].detach() for state in states]).requires_grad_(first.requires_grad)
        for name, first in states[0].items()
    }


def _buffers(models: Sequence[nn.Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(constants shared by all runs, stacked state). What is saved with a model is state, even where it is equal now.

    So are dropout rates: a mask is drawn for each run only where the rate, the only input of the draw, is a stack.
    """
    rates = {f"{name}.p" for name, module in models[0].named_modules() if isinstance(module, Dropout)}
    every = [dict(model.named_buffers()) for model in models]
    saved = set(models[0].state_dict()) | rates
    constants, states = {}, {}
    for name, first in every[0].items():
        if name not in saved and all(torch.equal(first, other[name]) for other in every[1:]):
            constants[name] = first
        else:
            states[name] = torch.stack([buffers[name] for buffers in every])
    return constants, states
