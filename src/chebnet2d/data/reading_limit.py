"""How much memory a file may ask for. Sizes that a file declares are checked before anything of that size is made."""

import os

from chebnet2d._checks import InputError
from chebnet2d._sizes import free_bytes, parse_bytes, show_bytes

VARIABLE = "CHEBNET2D_READ_MEMORY"


def reading_limit() -> int:
    """``$CHEBNET2D_READ_MEMORY`` (such as 8GiB), else three quarters of what the system has free."""
    text = os.environ.get(VARIABLE)
    return parse_bytes(text, VARIABLE) if text else free_bytes() * 3 // 4


def check_size(label: str, what: str, needed: float) -> None:
    """Raise if reading ``what`` would take more than the limit."""
    limit = reading_limit()
    if needed > limit:
        hint = f"The limit is three quarters of what is free, or what {VARIABLE} says."
        got = f"{show_bytes(needed)} by its own account"
        raise InputError(label, what, f"at most {show_bytes(limit)} of memory", got=got, hint=hint, verb="take")
