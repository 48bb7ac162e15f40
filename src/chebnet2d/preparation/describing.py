"""What the columns of a graph became, in lines for people and as data."""

from typing import Any


def preparation_lines(data: Any) -> list[str]:
    """One line that counts the kinds of columns, and one for columns that are left out; none where features are as they were."""
    preparation = data.get("preparation")
    if preparation is None or preparation.encoding is None:
        return []
    encoding = preparation.encoding
    if encoding.sparse is not None:
        return [f"features: a sparse matrix of {encoding.sparse} columns, as it is"]
    kinds: dict[str, int] = {}
    for column in encoding.columns:
        kinds[column.kind] = kinds.get(column.kind, 0) + 1
    left_out = [column for column in encoding.columns if not column.features]
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    lines = [f"features: {len(encoding.features)} from {len(encoding.columns)} columns ({counted})"]
    if left_out:
        shown = "; ".join(f"{column.name!r}, {column.became.removeprefix('left out: ')}" for column in left_out[:5])
        more = f"; and {len(left_out) - 5} more" if len(left_out) > 5 else ""
        lines.append(f"left out: {shown}{more}")
    return lines
