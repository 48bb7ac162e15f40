"""Docstrings are plain text with formulas: |x| is a size and * a product, not markup of reStructuredText."""

import re
from typing import Any

from sphinx.application import Sphinx

_LITERAL = re.compile(r"(``.+?``|`[^`]+`)")
_MARKUP = re.compile(r"[|*]|(?<=\w)_(?!\w)")


def escaped(line: str) -> str:
    """The line with its signs as signs; what is between backticks, and code of examples, stays.

    >>> escaped("at most |x| for ``a | b``")
    'at most \\\\|x\\\\| for ``a | b``'
    """
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = _LITERAL.split(line)
    return "".join(part if index % 2 else _MARKUP.sub(r"\\\g<0>", part) for index, part in enumerate(parts))


def escape_docstring(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)  # before napoleon writes markup of its own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
