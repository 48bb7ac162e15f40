"""What it takes to read a graph, told from its files before they are read."""

from collections.abc import Iterable
from pathlib import Path

from chebnet2d.data.own_graph.folder import EDGES, TABLES

_EDGE = 120  # bytes at the peak of an edge: two texts, two numbers of each, and a number for each in 64 bits
_BUFFERS = 64 * 2**20  # of the reader of tables, whatever it reads
_CHUNKS = 256 * 2**20  # of edges that are read, written and sorted in parts
_OTHERS = 4  # times the size of a file of features or labels
_SAMPLE = 1 << 16  # bytes from which the length of a line is taken


def reading_bytes(files: Iterable[Path], edges: Path | None = None, *, on_disk: bool = False) -> int:
    """About the memory that these files take at the peak. ``edges``: the edge list, where its name does not say so.

    ``on_disk``: where a table of edges is read in chunks.
    """
    files = [path for path in files if path.is_file()]
    total = _BUFFERS if files else 0
    for path in files:
        size = path.stat().st_size
        listed = path == edges or path.name in EDGES
        if listed and path.suffix.lower() in TABLES:
            total += _CHUNKS if on_disk else _EDGE * _rows(path, size) + 2 * size
        else:
            total += _OTHERS * size
    return total


def _rows(path: Path, size: int) -> int:
    if path.suffix.lower() == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet

        try:
            return int(pyarrow.parquet.read_metadata(path).num_rows)
        except (pa.ArrowException, OSError):  # told when it is read
            return 0
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
    return size * max(1, sample.count(b"\n")) // max(1, len(sample))
