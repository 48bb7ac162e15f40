"""The columns of a graph's nodes before any preparation, for a ``Data`` to hold: an Arrow table that is shown in a few words."""

from typing import Any


class RawColumns:
    """``table``: a row for each node."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __repr__(self) -> str:
        return f"[{self.table.num_rows}, {self.table.num_columns}]"

    def take(self, rows: Any) -> "RawColumns":
        return RawColumns(self.table.take(rows))
