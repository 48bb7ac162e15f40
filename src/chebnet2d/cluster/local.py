"""Tasks in this process, one after the other."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from chebnet2d.cluster.executor import Key


class LocalExecutor:
    """Runs tasks here. A task that has begun when ``seconds`` are over runs to its end, and its result is yielded."""

    slots = 1

    def run(
        self,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Key, tuple[Any, ...]]],
        *,
        shared: Any = None,
        seconds: float | None = None,
        report: Callable[..., None] | None = None,
    ) -> Iterator[tuple[Key, Any]]:
        """See ``Executor.run``."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        options = {} if report is None else {"report": report}
        coming = iter(tasks)
        while time.monotonic() < end and (task := next(coming, None)) is not None:
            key, arguments = task
            yield key, function(shared, *arguments, **options)
