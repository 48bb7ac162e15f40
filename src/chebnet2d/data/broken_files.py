"""What numpy, scipy, zipfile and pickle raise on damaged files."""

import pickle
import struct
import tokenize
import zipfile
import zlib

_BUILT_IN = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError)
_WORSE = (RuntimeError, SyntaxError, TypeError, ValueError)  # numpy evaluates the header of an array
BROKEN = (*_BUILT_IN, *_WORSE, pickle.UnpicklingError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error)
