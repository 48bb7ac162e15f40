"""The SQLite file of a study: opened to be written, or to be read without leaving a trace. What SQLite says becomes a sentence.

A rollback journal, not a WAL: that works on disks that several machines share, and reading needs no file beside the store.
"""

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError

_PATIENCE = 60.0  # seconds that a lock of another process is waited for
_MAGIC = b"SQLite format 3\x00"
_OURS = {"meta", "units", "claims", "runs"}
_OPEN: Counter[Path] = Counter()  # files that this process has open


def refusal(path: Path, reason: str) -> InputError:
    return InputError("Store", "path", "the file of a study", got=f"{str(path)!r}{reason}")


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """An error of SQLite, which may be damage, a lock or a full disk, as a sentence about the file."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
        raise refusal(path, f": {error}") from None


class Cursor(sqlite3.Cursor):
    connection: "Connection"

    def execute(self, *arguments: Any) -> "Cursor":
        with speaking(self.connection.path):
            super().execute(*arguments)
        return self

    def executemany(self, *arguments: Any) -> "Cursor":
        with speaking(self.connection.path):
            super().executemany(*arguments)
        return self

    def __next__(self) -> Any:
        with speaking(self.connection.path):
            return super().__next__()

    def fetchone(self) -> Any:
        return next(self, None)

    def fetchall(self) -> list[Any]:
        return list(self)


class Connection(sqlite3.Connection):
    path: Path

    def cursor(self, factory: Any = Cursor) -> Any:
        return super().cursor(factory)

    def execute(self, *arguments: Any) -> Any:
        return self.cursor().execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        return self.cursor().executemany(*arguments)

    def close(self) -> None:
        super().close()
        _OPEN[self.path.resolve()] -= 1

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One that writes; what raises inside rolls it back."""
        with speaking(self.path), self:
            self.execute("BEGIN IMMEDIATE")
            yield


def open_to_write(path: Path, *, create: bool = False) -> Connection:
    """A database; with ``create`` it is made if there is none."""
    connection = _connected(path, "rwc" if create else "rw")
    try:
        # The switch from the WAL of earlier versions needs the file for itself; whoever has it open may keep its mode.
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("PRAGMA synchronous = EXTRA")
    except InputError:
        connection.close()
        raise
    return connection


def open_to_read(path: Path) -> Connection:
    """Neither the file nor its folder changes, and neither has to be writable."""
    if _OPEN[path.resolve()] > 0:  # to read it past SQLite would drop the locks of this process
        return _connected(path, "ro")
    try:
        with path.open("rb") as file:
            start = file.read(20)
    except OSError as error:
        raise refusal(path, f": {error.strerror}") from None
    if not start.startswith(_MAGIC):
        raise refusal(path, ", which is something else")
    if start[18:20] == b"\x02\x02":  # a WAL, which even readers write to
        return _copied(path)
    connection = _connected(path, "ro")
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except InputError:
        connection.close()
        if not _beside(path, "-journal").exists():
            raise
        return _copied(path)  # a process was killed while it wrote, and to undo that is a change
    return connection


def check_ours(connection: Connection) -> bool:
    """False for a database without tables. That of another program, or a damaged one, is refused."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and not tables >= _OURS:
        raise refusal(connection.path, ", which is the database of another program")
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise refusal(connection.path, f", which is damaged: {' '.join(str(found).split())}")
    return bool(tables)


def _connected(path: Path, mode: str) -> Connection:
    with speaking(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE, isolation_level=None, factory=Connection
        )
    connection.path = path
    _OPEN[path.resolve()] += 1
    return connection


def _copied(path: Path) -> Connection:
    """The content in memory, by way of a copy of the file and of what SQLite has left beside it."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "store"
            for ending in ("", "-wal", "-journal"):
                if _beside(path, ending).is_file():
                    shutil.copyfile(_beside(path, ending), _beside(copy, ending))
            connection = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
            connection.path = path
            _OPEN[path.resolve()] += 1
            try:
                with speaking(path), closing(sqlite3.connect(copy)) as source:
                    source.backup(connection)
            except InputError:
                connection.close()
                raise
            return connection
    except OSError as error:
        raise refusal(path, f": {error.strerror}") from None


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
