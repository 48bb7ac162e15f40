"""Arrays in files, mapped: whatever a header says, nothing of that size is made."""

import warnings
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

BROKEN_ARRAY = (ArithmeticError, EOFError, LookupError, OSError, SyntaxError, TypeError, ValueError, TokenError)
"""What numpy raises on a file that is no whole array: it evaluates the header."""


def map_array(path: Path) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():  # sizes beyond 64 bits: the file is too short for them
        warnings.simplefilter("ignore")  # a header of Python 2
        return np.load(path, mmap_mode="r", allow_pickle=False)
