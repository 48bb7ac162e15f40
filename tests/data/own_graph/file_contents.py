"""Contents of small files in every format, sound or not."""

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Content = str | bytes
EDGES = "source,target\n0,1\n1,2\n"
X = "f,g\n1,2\n3,4\n5,6\n"


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def sparse(**arrays: Any) -> bytes:
    parts = {"format": np.array(b"csr"), "shape": [2, 2], "data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2]}
    return npz(**{**parts, **arrays})


def parquet(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def safetensors(header: Any, body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def graphml(body: str, keys: str = "") -> str:
    start = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f'{start}\n{keys}<graph edgedefault="undirected">\n{body}\n</graph></graphml>'


INDEX = np.array([[0, 1], [1, 0]])
KEY = '<key id="d0" for="node" attr.name="age" attr.type="double"/>\n'


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
