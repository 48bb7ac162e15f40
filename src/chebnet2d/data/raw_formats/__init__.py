"""Raw formats, a file per kind: from a folder of files, as their authors publish them, to a ``Data``. New files are found."""

from chebnet2d._registry import import_modules
from chebnet2d.data.raw_formats.registry import RAW_FORMATS, RawFormat, Source, raw_format

import_modules(__name__)

__all__ = ["RAW_FORMATS", "RawFormat", "Source", "raw_format"]
