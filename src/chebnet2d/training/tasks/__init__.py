"""Where batches come from: a full graph, mini batches of its nodes, bases on disk. A module in this folder is found by itself."""

from chebnet2d._registry import import_modules
from chebnet2d.training.tasks.source import SOURCES, Source, register_source, source_of

import_modules(__name__)

__all__ = ["SOURCES", "Source", "register_source", "source_of"]
