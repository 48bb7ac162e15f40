"""``load(name)``: one name, one ``Data``, wherever it comes from."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from chebnet2d._checks import one_of
from chebnet2d.data.embedded import csbm, digits

EMBEDDED: dict[str, Callable[..., Data]] = {"digits": digits, "csbm": csbm}


def load(name: str, root: str | Path | None = None, **options: Any) -> Data:
    """The dataset of that name.

    >>> load("digits").num_nodes
    1797
    """
    one_of("load", "name", name, tuple(EMBEDDED))
    del root
    maker = EMBEDDED[name]
    for option in options:
        one_of(f"load({name!r})", "an option", option, tuple(inspect.signature(maker).parameters))
    return maker(**options)
