"""Damaged and hostile files of a user's graph: nothing runs, and one line says what is wrong."""

import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.data.own_graph import read_graph
from file_contents import EDGES, INDEX, KEY, graphml, npy, npz, parquet, safetensors, sparse


class Bomb:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("member", ["edge_index", "x", "y", "ids", "edge_weight", "class_names", "x_data"])
def test_pickled_objects_in_an_npz_do_not_run(tmp_path: Path, member: str) -> None:
    trace = tmp_path / "ran"
    arrays: dict[str, Any] = {"edge_index": INDEX, "y": np.array([0, 1])}
    if member == "x_data":
        arrays |= {"x_indices": [0, 1], "x_indptr": [0, 1, 2], "x_shape": [2, 2]}
    else:
        arrays["x"] = np.eye(2)
    arrays[member] = np.array([Bomb(trace)], dtype=object)
    (tmp_path / "graph.npz").write_bytes(npz(**arrays))
    with pytest.raises(InputError, match=f"{member} must be plain numbers or text, got pickled objects, which are never loaded"):
        read_graph(tmp_path / "graph.npz")
    assert not trace.exists()
    with np.load(tmp_path / "graph.npz", allow_pickle=True) as archive:  # the bomb is a real one
        assert archive[member].shape == (1,)
    assert trace.exists()


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".safetensors", ".graphml", ".csv", ".parquet"])
def test_a_bare_pickle_under_any_name_does_not_run(tmp_path: Path, suffix: str) -> None:
    trace = tmp_path / "ran"
    path = tmp_path / f"edges{suffix}"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    (tmp_path / "e.csv").write_text(EDGES)
    with pytest.raises(InputError):
        read_graph(tmp_path / "e.csv", features=path) if suffix == ".npy" else read_graph(path, features="degree")
    assert not trace.exists()


def sound_files() -> dict[str, bytes]:
    nodes = 'id,f,kind,label\nb,1,r,x\na,2.5,g,y\n"c,d",3,,\n'
    return {
        "edges.csv": b'source,target,weight\na,b,1\nb,"c,d",2.5\n',
        "nodes.csv": nodes.encode(),
        "g.npz": npz(x=np.eye(2), edge_index=INDEX, y=["a", ""], ids=["p", "q"]),
        "g.graphml": graphml('<node id="a"><data key="d0">1</data></node>\n<edge source="a" target="a"/>', KEY).encode(),
        "x.npy": npy(np.eye(2)),
        "x.npz": sparse(),
        "e.parquet": parquet(source=["a"], target=["b"], weight=[1.0]),
        "g.safetensors": safetensors(
            {
                "__metadata__": {"chebnet2d_graph": '{"version": 1, "attributes": {}}'},
                "edge_index": {"dtype": "I64", "shape": [2, 1], "data_offsets": [0, 16]},
                "x": {"dtype": "F32", "shape": [2, 1], "data_offsets": [16, 24]},
            },
            struct.pack("<qqff", 0, 1, 1.0, 2.0),
        ),
    }


SOUND = sound_files()


def read_one(folder: Path, file: str) -> Any:
    if file in ("edges.csv", "nodes.csv"):
        read_graph(folder)
        return read_graph(folder, preprocess="none", categorical="one-hot", missing_features="zero")
    if file.startswith("x."):
        return read_graph(edges=folder / "edges.csv", features=folder / file)
    return read_graph(folder / file, features="degree" if file == "e.parquet" else None)


@settings(max_examples=250, deadline=None)
@given(
    file=st.sampled_from(sorted(SOUND)),
    place=st.floats(0, 1),
    removed=st.integers(0, 12),
    added=st.one_of(st.sampled_from([b",", b"\n", b'"', b"\x00", b"\xff", b"-", b"e9", b"<"]), st.binary(max_size=3)),
)
def test_a_damaged_file_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, file: str, place: float, removed: int, added: bytes
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    content = SOUND[file]
    at = int(place * len(content))
    for other in ("edges.csv", "nodes.csv"):
        (folder / other).write_bytes(SOUND[other] if not file.startswith("x.") else b"0,1\n")
    (folder / file).write_bytes(content[:at] + added + content[at + removed :])
    sentence, data = "", None
    try:
        data = read_one(folder, file)
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence
    if data is not None:
        assert data.edge_index.numel() == 0 or int(data.edge_index.max()) < data.num_nodes == data.x.shape[0]
        assert torch.isfinite(data.x.to_dense()).all()


def test_the_files_to_be_damaged_are_sound(tmp_path: Path) -> None:
    for file, content in SOUND.items():
        (tmp_path / file).write_bytes(content)
    for file in SOUND:
        if not file.startswith("x."):
            assert read_one(tmp_path, file).num_edges >= 1
    (tmp_path / "edges.csv").write_text("0,1\n")
    assert read_one(tmp_path, "x.npy").num_nodes == read_one(tmp_path, "x.npz").num_nodes == 2
