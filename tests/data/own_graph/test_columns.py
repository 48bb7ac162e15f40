"""Headers, columns and ids of a user's tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graph_writers import read_raw


@pytest.mark.parametrize(
    ("text", "arguments", "edges", "weights"),
    [
        ("source,target\n0,1\n2,0\n", {}, [(0, 1), (2, 0)], None),
        ("src;dst\n0;1\n", {}, [(0, 1)], None),
        ("Weight,To,From\n0.5,1,0\n", {}, [(0, 1)], [0.5]),
        ("node_1,node_2,w\n0,1,3\n", {}, [(0, 1)], [3.0]),
        ("u\tv\n0\t1\n", {}, [(0, 1)], None),
        ("0,1\n2,0\n", {}, [(0, 1), (2, 0)], None),
        ("0,1,0.5\n2,0,7\n", {}, [(0, 1), (2, 0)], [0.5, 7.0]),
        ("paper,cites\n0,1\n", {}, [(0, 1)], None),
        ("paper,cites,note\n0,1,x\n", {}, [(0, 1)], None),
        ("paper,cites,note\n0,1,x\n", {"source": "cites", "target": "paper"}, [(1, 0)], None),
        ("a,b,c\n0,1,5\n", {"weight": "c"}, [(0, 1)], [5.0]),
        ("7,0,1\n8,2,0\n", {"source": "1", "target": "2"}, [(0, 1), (2, 0)], None),
        ("source, target\n0, 1\n\n2, 0\n", {}, [(0, 1), (2, 0)], None),
        ("\ufeffsource,target\n0,1\n", {}, [(0, 1)], None),
        ('source,target\r\n"0","1"\r\n', {}, [(0, 1)], None),
        ("source,target\n", {}, [], None),
        ("3,4\n0,1\n", {"header": True}, [(0, 1)], None),
    ],
)
def test_edge_columns_are_recognised_or_named(tmp_path: Path, text: str, arguments: Any, edges: Any, weights: Any) -> None:
    (tmp_path / "edges.csv").write_text(text, encoding="utf-8")
    np.save(tmp_path / "features.npy", np.eye(3))
    data = read_raw(tmp_path, **arguments)
    assert data.edge_index.T.tolist() == [list(edge) for edge in edges]
    assert (data.edge_weight.tolist() if "edge_weight" in data else None) == weights


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ann,bob\nbob,cid\n", ["ann", "bob", "cid"]),  # bob is mentioned again: an edge
        ("person,friend\nann,bob\nbob,cid\n", ["ann", "bob", "cid"]),  # neither is: a header
        ("ann,bob\n", []),
    ],
)
def test_a_header_of_unknown_names_is_told_from_an_edge(tmp_path: Path, text: str, ids: list[str]) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(text)
    if ids:
        assert list(read_raw(path, features="degree").node_ids) == ids
    else:
        with pytest.raises(ValueError, match="at least one node"):
            read_raw(path, features="degree")
        (tmp_path / "nodes.csv").write_text("id,f\nann,1\nbob,2\n")
        assert read_raw(tmp_path).edge_index.tolist() == [[0], [1]]


def test_ids_are_integers_only_if_all_are_written_as_such(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\n10,9\n9,10\n")
    data = read_raw(tmp_path, features="degree")
    assert data.node_ids.dtype == np.int64
    assert data.node_ids.tolist() == [9, 10]
    (tmp_path / "edges.csv").write_text("source,target\n10,09\n9,10\n")
    assert read_raw(tmp_path, features="degree").node_ids.tolist() == ["09", "10", "9"]


def test_parquet_integers_meet_csv_text(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"from": pa.array([5, 7], pa.int32()), "to": pa.array([7, 5], pa.uint64())}), tmp_path / "edges.parquet"
    )
    (tmp_path / "features.csv").write_text("id,f\n7,1\n5,2\n")
    data = read_raw(tmp_path)
    assert data.node_ids.tolist() == [5, 7]
    assert data.x.tolist() == [[2.0], [1.0]]
