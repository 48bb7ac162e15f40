"""Labels of a user's graph."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graph_writers import read_raw, with_edges


@pytest.mark.parametrize(
    ("text", "y", "names", "arguments"),
    [
        ("id,label\n0,b\n2,a\n", [1, -1, 0], ["a", "b"], {}),
        ("id,label\n0,10\n2,9\n1,\n", [1, -1, 0], ["9", "10"], {}),
        ("id,label\n0,1.0\n2,0.0\n1,nan\n", [1, -1, 0], ["0", "1"], {}),
        ("id,label\n0,01\n2,1\n", [0, -1, 1], ["01", "1"], {}),
        ("0,b\n2,a\n", [1, -1, 0], ["a", "b"], {}),
        ("what,ever\n0,b\n2,a\n", [1, -1, 0], ["a", "b"], {}),
        ("label,id\nb,0\n", [0, -1, -1], ["b"], {}),
        ("id,kind,more\n0,b,c\n", [0, -1, -1], ["b"], {"label": "kind"}),
        ("label\nb\n\na\n", [1, -1, 0], ["a", "b"], {}),
        ("b\nc\na\n", [1, 2, 0], ["a", "b", "c"], {}),
        ("kind\nb\nc\na\n", [1, 2, 0], ["a", "b", "c"], {}),
        ("id,label\n0,3\n1,-1\n", [0, -1, -1], ["3"], {"unlabelled": "-1"}),
        ("id,label\n0,1\n1,-1\n", [1, 0, -1], ["-1", "1"], {"unlabelled": ""}),
        ("id,label\n0,x\n1,?\n", [0, -1, -1], ["x"], {"unlabelled": "?"}),
        ("id,label\n0,NA\n1,None\n", [0, 1, -1], ["NA", "None"], {"unlabelled": ""}),
        ("id,label\n0,x\n1,NA\n", [0, -1, -1], ["x"], {"unlabelled": "NA"}),
    ],
)
def test_labels(tmp_path: Path, text: str, y: list[int], names: list[str], arguments: Any) -> None:
    np.save(with_edges(tmp_path) / "features.npy", np.eye(3))
    (tmp_path / "labels.csv").write_text(text)
    data = read_raw(tmp_path, **arguments)
    assert data.y.tolist() == y
    assert data.class_names == names


def test_parquet_labels_of_every_type(tmp_path: Path) -> None:
    np.save(with_edges(tmp_path) / "features.npy", np.eye(3))
    for column, y, names in [
        (pa.array([4, None, 2]), [1, -1, 0], ["2", "4"]),
        (pa.array([4.0, float("nan"), 2.0]), [1, -1, 0], ["2", "4"]),
        (pa.array([True, None, False]), [1, -1, 0], ["False", "True"]),
        (pa.array(["b", None, "a"]).dictionary_encode(), [1, -1, 0], ["a", "b"]),
    ]:
        pq.write_table(pa.table({"node": [0, 1, 2], "y": column}), tmp_path / "labels.parquet")
        data = read_raw(tmp_path)
        assert (data.y.tolist(), data.class_names) == (y, names)


def test_y_beside_x_is_a_coordinate(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "nodes.csv").write_text("id,x,y\n0,1,2\n1,3,4\n2,5,6\n")
    assert read_raw(tmp_path).feature_names == ["x", "y"]
    (tmp_path / "nodes.csv").write_text("id,f,y\n0,1,2\n1,3,4\n2,5,6\n")
    assert read_raw(tmp_path).class_names == ["2", "4", "6"]


def test_a_column_name_is_for_the_tables_that_have_it(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "features.csv").write_text("paper,f\n0,1\n1,2\n2,3\n")
    (tmp_path / "labels.csv").write_text("id,kind,note\n2,x,\n0,y,\n")
    data = read_raw(tmp_path, node_id="paper", label="kind")
    assert (data.x.tolist(), data.y.tolist()) == ([[1], [2], [3]], [1, -1, 0])
    with pytest.raises(ValueError, match=r"labels\.csv: label must be one of its columns \('id', 'kind', 'note'\), got 'sort'"):
        read_raw(tmp_path, node_id="paper", label="sort")
    (tmp_path / "features.csv").write_text("paper,f,sort\n0,1,1\n1,2,1\n2,3,2\n")
    with pytest.raises(ValueError, match=r"features\.csv: labels must come from one place, got the column 'sort'"):
        read_raw(tmp_path, node_id="paper", label="sort")
