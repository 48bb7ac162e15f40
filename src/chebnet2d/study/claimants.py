"""Whether the process that claims a unit still lives."""

import os
import socket
from pathlib import Path


def process_mark(pid: int) -> str:
    """When the process was started, as the kernel counts: a pid alone may be given to another process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rsplit(")", 1)[1].split()
    return "" if fields[0] == "Z" else fields[19]


def is_alive(host: str, pid: int, process: str) -> bool:
    if host != socket.gethostname():
        return True  # nothing is known about processes elsewhere
    if Path("/proc").is_dir():
        return process_mark(pid) == process != ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is somebody else's
        pass
    return True
