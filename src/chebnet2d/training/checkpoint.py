"""A training in progress, in one file: after whatever ended the process, the same training goes on from its last checkpoint.

It goes on exactly: parameters, the optimiser's moments, the random streams of all shards and the best epoch so far are kept, and
the order of the batches follows from the epoch.
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, cast

import safetensors.torch
from torch import Tensor

from chebnet2d._checks import InputError, real
from chebnet2d._targets import written_whole
from chebnet2d.models.weights_file import config_within, pack
from chebnet2d.training.learners.stack import stack_group
from chebnet2d.training.loop import Training
from chebnet2d.training.processes import of_first_process, process_rank
from chebnet2d.training.run import Run

SECONDS = 10.0
"""Between two checkpoints at least: far more than one takes to write, far less than a training that anyone would miss."""
_BEST, _NOW = "best.", "now."


class ResumableLearner(Protocol):
    """A learner of one run whose state can be kept. Of several processes, all call these together."""

    def state(self) -> tuple[dict[str, Tensor], list[list[int]]]:
        """Parameters with what the optimiser holds of them, and the random stream of every shard."""
        ...

    def restore(self, tensors: dict[str, Tensor], streams: Sequence[Sequence[int]]) -> None: ...


class Checkpoint:
    """The file ``path``, written after epochs, ``seconds`` apart at least, and read where the same training begins again.

    A file of another training (other data, split, seed, model or settings), or a damaged one, is not used and is replaced.
    ``notice``: called with a sentence where a training goes on, or begins anew beside such a file.
    """

    def __init__(self, path: str | Path, seconds: float = SECONDS, notice: Callable[[str], Any] | None = None) -> None:
        self.path, self.seconds = Path(path), real("Checkpoint", "seconds", seconds, 0)
        self.notice = notice if notice is not None else lambda _: None
        self._training = ""
        self._written = time.monotonic()

    def resume(self, training: Training, data: str | None) -> None:
        """Bring a training that has not begun to where the file has it, if it is there. ``data``: tells the data from others."""
        if data is None or len(training.runs) != 1:
            rule = "left out, but for one run on bases"
            raise InputError("fit", "checkpoint", rule, got=f"{len(training.runs)} runs" if data else "a graph")
        self._training = _identity(training.runs[0], training.task.metric, data)
        found = of_first_process(lambda: self._read() if self.path.is_file() else None)
        if found is None:
            return
        facts, tensors = found
        if facts is None:
            self._tell(f"{self.path} is not of this training, which begins anew")
            return
        training.epoch = training.resumed = facts["epoch"]
        training.stoppers[0].restore(facts["best"], _part(tensors, _BEST))
        cast("ResumableLearner", training.learner).restore(_part(tensors, _NOW), facts["streams"])
        self._tell(f"going on after epoch {training.epoch}, from {self.path}")

    def after_epoch(self, training: Training) -> None:
        """Write the state, if it is time; the first process decides for all."""
        if not of_first_process(lambda: time.monotonic() - self._written >= self.seconds):
            return
        now, streams = cast("ResumableLearner", training.learner).state()
        if process_rank()[0] == 0:
            stopper = training.stoppers[0]
            facts = {"training": self._training, "epoch": training.epoch, "best": stopper.facts(), "streams": streams}
            facts["digest"] = _digest(facts)
            named = {_BEST: stopper.best_state, _NOW: now}
            content = pack({kind + name: value for kind, part in named.items() for name, value in part.items()}, facts)
            with written_whole(self.path) as temporary:
                temporary.write_bytes(content)
        self._written = time.monotonic()

    def remove(self) -> None:
        """When the training is over, and its model is saved."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> tuple[dict[str, Any] | None, dict[str, Tensor]]:
        """What the file holds; no facts where it is not of this training."""
        content = self.path.read_bytes()
        facts = config_within(content)
        # The file vouches for its numbers, the digest for the facts: a flipped bit in either makes it a file of no training.
        if facts is None or facts.pop("digest", None) != _digest(facts) or facts.get("training") != self._training:
            return None, {}
        return facts, safetensors.torch.load(content)

    def _tell(self, text: str) -> None:
        if process_rank()[0] == 0:
            self.notice(text)


def _identity(run: Run, metric: str, data: str) -> str:
    """All that decides how a training goes. Of processes only the number of shards counts, which is in ``data``."""
    rates = {name: float(value) for name, value in run.model.named_buffers() if name.endswith(".p")}
    facts = [asdict(run.settings), run.seed, metric, repr(stack_group(run.model)), rates, data]
    return json.dumps(facts, sort_keys=True)


def _digest(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _part(tensors: dict[str, Tensor], kind: str) -> dict[str, Tensor]:
    return {name.removeprefix(kind): value for name, value in tensors.items() if name.startswith(kind)}
