"""Errors of a disk, whichever library met them, as a sentence."""

import os
from collections.abc import Iterator


def disk_sentence(error: BaseException) -> str | None:
    """What is wrong with the disk; None if the error is about something else."""
    import sqlite3

    from chebnet2d._targets import DISK_ERRORS

    broken = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
    for one in _chain(error):
        if isinstance(one, OSError) and one.errno in DISK_ERRORS:
            where = "" if one.filename is None else f" to {str(one.filename)!r}"
            return f"cannot write{where}: {os.strerror(one.errno)}. What was there before is as it was."
        if isinstance(one, sqlite3.Error) and getattr(one, "sqlite_errorcode", 0) & 0xFF in broken:  # above: finer codes
            return f"cannot write to the database: {one}. What was stored before is as it was."
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and those that it was raised from; SQLAlchemy has the original in ``orig``."""
    while error is not None:
        yield error
        error = getattr(error, "orig", None) or error.__cause__ or error.__context__
