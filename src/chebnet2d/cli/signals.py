"""Ctrl-C and SIGTERM: the first puts all in order and ends the command, the second ends the process at once."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_received: list[int] = []


@contextmanager
def answering_signals() -> Iterator[None]:
    """Both raise KeyboardInterrupt, so that workers are ended, claims released and the best epoch kept.

    Once one has come, the handlers stay: a second one while Python shuts down must not print a traceback either. What a hard end
    leaves is whole (files are put in their place by a rename), and workers end with their driver.
    """
    if threading.current_thread() is not threading.main_thread():  # the only one that may set handlers
        yield
        return
    _received.clear()
    before = {number: signal.signal(number, _answer) for number in _SIGNALS}
    try:
        yield
    finally:
        if not _received:
            for number, handler in before.items():
                signal.signal(number, handler)


def _answer(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    if len(_received) > 1:
        sys.stderr.flush()
        os._exit(128 + number)
    raise KeyboardInterrupt


def stopping_code() -> int:
    """128 and the number of the signal, as shells have it."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def stopping_word() -> str:
    return "terminated" if _received and _received[0] == signal.SIGTERM else "interrupted"
