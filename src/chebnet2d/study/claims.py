"""Claims: which process works on which unit, and until when nobody else may.

A claim is a lease. Its owner renews it while a unit is trained; a process that was killed does not, and its lease ends. On the
machine of the owner its death is noticed at once. Clocks of machines that share a store should agree within a minute: where they
do not, a unit may be trained twice, and is still stored once.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil

from chebnet2d._checks import InputError
from chebnet2d.study.database import Connection, open_to_write, refusal

LEASE = 120.0
"""Seconds for which a claim holds after it was made or renewed."""
RENEWAL = 20.0
"""Seconds between two renewals."""
CLAIMS = (
    "CREATE TABLE IF NOT EXISTS claims (unit_id TEXT PRIMARY KEY, host TEXT NOT NULL, boot TEXT NOT NULL, pid INTEGER NOT NULL, "
    "started REAL NOT NULL, since REAL NOT NULL, until REAL NOT NULL)"
)


@dataclass(frozen=True)
class Owner:
    """A process: where it runs, since which start of that machine, its number, and when it was started in seconds after that."""

    host: str
    boot: str
    pid: int
    started: float

    @classmethod
    def this_process(cls) -> "Owner":
        return cls(socket.gethostname(), _boot(), os.getpid(), _started(os.getpid()) or 0.0)

    @property
    def is_here(self) -> bool:
        """Whether this process can see whether that one lives."""
        return (self.host, self.boot) == (socket.gethostname(), _boot())

    @property
    def is_dead(self) -> bool:
        """Known to be; a number alone may have been given to another process meanwhile."""
        return self.is_here and _started(self.pid) != self.started

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True)
class Claim:
    """``until``: when the lease ends, by the clock of the owner."""

    unit_id: str
    owner: Owner
    since: float
    until: float

    @property
    def holds(self) -> bool:
        return time.time() < self.until and not self.owner.is_dead

    def to_json(self) -> dict[str, Any]:
        times = {"since": self.since, "until": self.until}
        shown = {name: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for name, at in times.items()}
        return {"host": self.owner.host, "pid": self.owner.pid, **shown}


def read_claims(connection: Connection) -> dict[str, Claim]:
    """All that hold, by unit."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(claims)")}
    if "until" not in columns:  # of an earlier version
        return {}
    rows = connection.execute("SELECT unit_id, host, boot, pid, started, since, until FROM claims").fetchall()
    try:
        claims = [
            Claim(unit, Owner(str(host), boot, int(pid), float(at)), *map(float, when))
            for unit, host, boot, pid, at, *when in rows
        ]
        return {claim.unit_id: claim for claim in claims if claim.holds and claim.to_json()}
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise refusal(connection.path, f", which is damaged: a claim has {error}") from None


def take_claim(connection: Connection, unit_id: str, owner: Owner) -> bool:
    """Inside a transaction: False where another process, or another driver of this one, has it."""
    if unit_id in read_claims(connection):
        return False
    now = time.time()
    row = (unit_id, *astuple(owner), now, now + LEASE)
    connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return True


def drop_claim(connection: Connection, unit_id: str, owner: Owner) -> None:
    connection.execute(f"DELETE FROM claims WHERE unit_id = ? AND {_OWNED}", (unit_id, *astuple(owner)))


@contextmanager
def renewed(path: Path, owner: Owner) -> Iterator[None]:
    """All claims of a process are renewed from a thread, by a connection of its own, as long as this lasts."""
    end = threading.Event()

    def renew() -> None:
        while not end.wait(RENEWAL):
            with suppress(InputError):  # a disk that is away for a moment: there are several tries in a lease
                connection = open_to_write(path)
                try:
                    until = time.time() + LEASE
                    connection.execute(f"UPDATE claims SET until = ? WHERE {_OWNED}", (until, *astuple(owner)))
                finally:
                    connection.close()

    thread = threading.Thread(target=renew, name="claims", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


_OWNED = "host = ? AND boot = ? AND pid = ? AND started = ?"


@lru_cache(maxsize=1)
def _boot() -> str:
    """This start of the machine; of containers on one machine, which count processes on their own, each has another."""
    parts: list[str] = []
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts) or f"{psutil.boot_time():.0f}"


def _started(pid: int) -> float | None:
    """Seconds from the start of the machine to that of a process; None if there is none, or one that only waits to be buried."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else round(process.create_time() - psutil.boot_time(), 2)
    except (psutil.Error, ValueError, OverflowError):
        return None
