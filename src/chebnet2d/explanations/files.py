"""Explanations as a JSON file."""

from collections.abc import Sequence
from pathlib import Path

from chebnet2d._json import to_json
from chebnet2d._targets import Mark, check_target, written_whole
from chebnet2d.explanations.explanation import Explanation

_NAME = "chebnet2d explanations"
_MARKS = (Mark(b"{", _NAME.encode()),)


def check_explanations_file(out: Path, keep: Sequence[Path] = (), *, force: bool = False) -> None:
    """Before the work: whether the file can be written."""
    check_target("explain", "out", out, keep=keep, marks=_MARKS, force=force)


def write_explanations(found: Sequence[Explanation], out: Path, top: int = 10, *, force: bool = False) -> None:
    """Write explanations as JSON, the ``top`` nodes and features of each; a file of others is replaced with ``force`` alone."""
    check_explanations_file(out, force=force)
    text = to_json({"format": _NAME, "explanations": [explanation.to_json(top) for explanation in found]}, indent=2)
    with written_whole(out) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
