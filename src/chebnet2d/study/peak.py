"""The peak of resident memory during a piece of work, not during the life of the process."""

import threading
from contextlib import AbstractContextManager
from pathlib import Path

import psutil

KERNEL = "counted by the kernel"
SAMPLED = "sampled"
_RESET = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_PAUSE = 0.02


class PeakMemory(AbstractContextManager["PeakMemory"]):
    """``with PeakMemory() as peak: ...``, then ``peak.mib``: what the process held at most meanwhile, its start included.

    ``how`` says where the number is from. Linux counts, and lets the count begin anew; elsewhere a thread looks every 20 ms, and
    misses a shorter peak.
    """

    def __init__(self) -> None:
        self.mib = 0.0
        self.how = SAMPLED
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="peak-memory", daemon=True)

    def __enter__(self) -> "PeakMemory":
        try:
            _RESET.write_text("5")
            self.how = KERNEL
        except OSError:  # another system, or a container that forbids it
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.how == KERNEL:
            line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
            self.mib = int(line.split()[1]) / 2**10
        else:
            self._end.set()
            self._thread.join()

    def _sample(self) -> None:
        process = psutil.Process()
        while True:
            self.mib = max(self.mib, process.memory_info().rss / 2**20)
            if self._end.wait(_PAUSE):
                return
