"""What a column can become. A module in this folder that registers a kind is found by itself."""

from chebnet2d._registry import import_modules
from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded, column_from_json

import_modules(__name__)

__all__ = ["KINDS", "ColumnKind", "Encoded", "column_from_json"]
