"""Where tests find the real datasets: $CHEBNET2D_DATA, else ../shared/data beside the repository, else nowhere."""

import os
from pathlib import Path

import pytest


def find_data_root() -> Path | None:
    named = os.environ.get("CHEBNET2D_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[1].parent / "shared" / "data"
    return folder if folder.is_dir() else None


def real_data_root() -> Path:
    """The root, or a skipped test."""
    root = find_data_root()
    if root is None:
        pytest.skip("no real datasets: set CHEBNET2D_DATA to their folder")
    return root
