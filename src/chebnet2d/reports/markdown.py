"""Pieces of a page in Markdown."""

from collections.abc import Sequence


def markdown_lines(grid: Sequence[Sequence[str]]) -> list[str]:
    """A header and rows as a Markdown table."""
    header, *rows = ["| " + " | ".join(row) + " |" for row in grid]
    return [header, "|" + "---|" * len(grid[0]), *rows]


def section(title: str, *lines: str) -> str:
    """A heading of a page and what is below it."""
    return "\n".join([f"## {title}", "", *lines]) + "\n"
