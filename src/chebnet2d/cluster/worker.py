"""What a worker of ``ProcessExecutor`` does: one task after the other, until the driver closes the pipe or ends."""

import os
import pickle
import signal
import traceback
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any


def work(pipe: "Connection[bytes, bytes]", threads: int) -> None:
    """The life of a worker; the messages are drawn in ``processes``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the driver decides
    messages: SimpleQueue[bytes] = SimpleQueue()
    # Read by a thread, so that the end of the driver is noticed in the middle of a task, or of the imports.
    Thread(target=_listen, args=(pipe, messages), daemon=True).start()
    import torch

    torch.set_num_threads(threads)
    _send(pipe, b"")
    common, call = messages.get(), None
    while True:
        arguments = messages.get()
        try:
            if call is None:
                call, common = pickle.loads(common), b""  # noqa: S301 - from the driver
            function, shared = call
            answer = _pickled(function(shared, *pickle.loads(arguments)), None, "")  # noqa: S301
        except Exception as error:
            answer = _pickled(None, error, traceback.format_exc())
        _send(pipe, answer)


def _send(pipe: "Connection[bytes, bytes]", message: bytes) -> None:
    try:
        pipe.send_bytes(message)
    except OSError:  # the driver has ended, and nobody would read a traceback
        os._exit(1)


def _listen(pipe: "Connection[bytes, bytes]", messages: "SimpleQueue[bytes]") -> None:
    while True:
        try:
            messages.put(pipe.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)


def _pickled(result: Any, failed: Exception | None, text: str) -> bytes:
    """Result, exception and its traceback. What cannot be sent becomes an error that can."""
    try:
        content = pickle.dumps((result, failed, text), pickle.HIGHEST_PROTOCOL)
        if failed is not None:
            pickle.loads(content)  # noqa: S301 - some exceptions are pickled and cannot be read back
    except Exception as error:
        sentence = f"{type(failed).__name__}: {failed}" if failed else f"the result of a task cannot be sent: {error}"
        return pickle.dumps((None, RuntimeError(sentence), text))
    return content
