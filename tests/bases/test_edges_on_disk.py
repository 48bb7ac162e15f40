"""Edges that fit no memory: read in chunks, sorted by buckets on disk, with the same operators, bit for bit."""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.bases import disk_operator, extend, give_up_edges, precompute
from chebnet2d.bases.manifest import matrix_digest
from chebnet2d.bases.operators import any_operator
from chebnet2d.cluster import ProcessExecutor
from chebnet2d.data import read_graph
from chebnet2d.data.own_graph import csv_table, parquet_table
from chebnet2d.graph import external_sort, listed_edges, operator_of
from chebnet2d.graph.disk_array import DiskArray
from chebnet2d.graph.listed_edges import ListedEdges, neighbour_counts


def on_disk(index, nodes):
    """Codes are node numbers in another order."""
    order = np.random.default_rng(0).permutation(nodes)
    parts = DiskArray(np.int32), DiskArray(np.int32)
    for part, own in zip(parts, np.argsort(order)[index.numpy()], strict=True):
        part.append(own)
    return ListedEdges(*parts, order, nodes)


def data_of(index, nodes, x=None):
    return type("Graph", (), {"edge_index": on_disk(index, nodes), "num_nodes": nodes, "x": x, "get": lambda *_: None})()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has /dev/full")
def test_files_have_no_name_and_a_full_disk_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = DiskArray(np.int32)
    array.append(np.arange(10))
    array.write(2, [7, 8])
    assert array.read(1, 5).tolist() == [1, 7, 8, 4]
    assert array.read(10, 10).tolist() == []
    assert list(tmp_path.iterdir()) == [], "so nothing is left, whatever ends the process"
    full = DiskArray(np.int32)
    full._file.close()
    with Path("/dev/full").open("wb", buffering=0) as full._file, pytest.raises(OSError, match=re.escape(str(tmp_path))):
        full.append(np.arange(3))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    nodes=st.integers(1, 30),
    edges=st.integers(0, 150),
    kind=st.sampled_from(["L_hat", "P", "P~"]),
    bucket=st.sampled_from([1, 3, 10, 50, 1 << 21]),
    chunk=st.sampled_from([1, 4, 1 << 20]),
)
def test_any_buckets_give_the_operator_bit_for_bit(seed, nodes, edges, kind, bucket, chunk):
    """Repetitions, which weigh, loops, one direction or both, hubs that fill a bucket. Against the matrix that scipy builds."""
    rng = np.random.default_rng(seed)
    index = torch.from_numpy((nodes * rng.random((2, edges)) ** 3).astype(np.int64))
    general = operator_of(index.clone(), None, torch.zeros(nodes, 1), kind=kind, owner="test")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(external_sort, "BUCKET", bucket)
        patch.setattr(listed_edges, "_CHUNK", chunk)
        patch.setattr(disk_operator, "_CHUNK", chunk)
        made = any_operator(data_of(index, nodes), kind)
        parts = made.starts, made.columns.read(0, made.nnz), made.values.read(0, made.nnz)
        assert matrix_digest(made) == matrix_digest(general)
        counts = neighbour_counts(on_disk(index, nodes), nodes)
    for part, name in zip(parts, ("crow_indices", "col_indices", "values"), strict=True):
        expected = getattr(general.csr, name)().numpy()
        assert part.dtype == expected.dtype
        np.testing.assert_array_equal(part, expected)
    assert counts.tolist() == neighbour_counts(index, nodes).tolist()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_bases_of_a_graph_that_is_read_in_chunks(kind, tmp_path, monkeypatch):
    """Many chunks and buckets, words as ids, some of which only the edges know: the same folder of bases."""
    rng = np.random.default_rng(0)
    names = np.array([f"n{k}" for k in range(50)])
    ends = names[rng.integers(0, 50, (2, 400))]
    nodes = "\n".join(
        ["id,a,b,label", *(f"{name},{rng.random():.3f},{k % 7},{'xy'[k % 2]}" for k, name in enumerate(names[:45]))]
    )
    (tmp_path / "nodes.csv").write_text(nodes + "\n")
    if kind == "csv":
        (tmp_path / "edges.csv").write_text("\n".join(["source,target", *(f" {a},{b} " for a, b in ends.T), ""]))
    else:
        import pyarrow as pa
        import pyarrow.parquet

        pa.parquet.write_table(pa.table({"source": ends[0], "target": ends[1]}), tmp_path / "edges.parquet", row_group_size=64)
    monkeypatch.setattr(csv_table, "_BLOCK", 200)
    monkeypatch.setattr(parquet_table, "_ROWS", 30)
    monkeypatch.setattr(external_sort, "BUCKET", 100)
    whole, chunked = read_graph(tmp_path), read_graph(tmp_path, edges_on_disk=True)
    assert isinstance(chunked.edge_index, ListedEdges)
    assert tuple(chunked.edge_index.shape) == (2, 400)
    assert list(chunked.node_ids) == list(whole.node_ids)
    assert torch.equal(chunked.x, whole.x)
    listed = np.concatenate([np.stack(chunk) for chunk in chunked.edge_index.chunks()], axis=1)
    np.testing.assert_array_equal(listed, whole.edge_index.numpy())
    first = precompute(whole, out=tmp_path / "bases", degree=3, rows="all")
    give_up_edges(chunked, "L_hat")
    second = precompute(chunked, out=tmp_path / "others", degree=3, rows="all")
    assert second.manifest.graph_digest == first.manifest.graph_digest
    assert torch.equal(first.read(torch.arange(50)), second.read(torch.arange(50)))
    assert precompute(chunked, out=tmp_path / "bases", degree=3, rows="all").folder == first.folder, "they are known"


NAMES = {
    "integers": [str(7 * k) for k in range(60)],
    "integers, and words in the last lines": [*map(str, range(55)), "a", "b", "c", "d", "007"],
    # pyarrow reads these as integers of as many digits
    "written as hexadecimal numbers": [f"0x{10**11 + k:x}" for k in range(60)],
    "with leading zeros": [f"{k:03d}" for k in range(60)],
    "at the limits of 64 bits": [str(2**63 - k) for k in range(-29, 1)] + [str(k - 2**63) for k in range(-15, 15)],
    "beyond 18 digits": [str(10**18 + (-1) ** k * k) for k in range(60)],
}


@pytest.mark.parametrize("kind", NAMES)
def test_ids_of_every_kind_are_the_same_in_chunks(kind, tmp_path, monkeypatch):
    """Ids that become integers in some chunks and texts in others; against the ids and edges as Python numbers them."""
    names, rng = NAMES[kind], np.random.default_rng(1)
    ends = np.sort(rng.permutation(300) % 60).reshape(2, 150, order="F")  # the last ids are in the last lines
    edges = [(names[a], names[b]) for a, b in ends.T]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *(f"{a},{b}" for a, b in edges), ""]))
    integers = all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", name) for name in names)
    order = sorted(names, key=int) if integers else sorted(names)
    monkeypatch.setattr(csv_table, "_BLOCK", 120)
    for on_disk in (False, True):
        data = read_graph(tmp_path, features="identity", edges_on_disk=on_disk)
        assert [str(name) for name in data.node_ids] == order
        index = data.edge_index.numpy() if not on_disk else np.concatenate(list(map(np.stack, data.edge_index.chunks())), axis=1)
        assert index.T.tolist() == [[order.index(a), order.index(b)] for a, b in edges]


def test_bases_are_extended_where_edges_are_on_disk(tmp_path, monkeypatch):
    """A ring with a new leaf: as many rows are computed as with edges in memory, with the same bits."""
    monkeypatch.setattr(external_sort, "BUCKET", 50)
    nodes = 200
    around = torch.stack([torch.arange(nodes), (torch.arange(nodes) + 1) % nodes])
    index = torch.cat([around, torch.tensor([[17], [nodes]])], dim=1)
    x = torch.randn(nodes + 1, 3, generator=torch.Generator().manual_seed(0))
    known = precompute(data_of(around, nodes, x[:nodes]), out=tmp_path / "known", degree=4, rows="all")
    changed = data_of(index, nodes + 1, x)
    give_up_edges(changed, "L_hat")
    found = extend(known, changed, out=tmp_path / "extended")
    whole = precompute(data_of(index, nodes + 1, x), out=tmp_path / "whole", degree=4, rows="all")
    assert found.anew is None
    assert found.computed < 20
    every = torch.arange(nodes + 1)
    assert torch.equal(found.bases.terms(every), whole.terms(every))


def test_the_same_sentences_as_without_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "_BLOCK", 64)
    lines = ["source,target", *(f"{k},{k + 1}" for k in range(100))]
    for bad, spoilt in {"empty": "3,", "columns": "3,4,5", "unknown": "7,999"}.items():
        (tmp_path / f"{bad}.csv").write_text("\n".join([*lines[:60], spoilt, *lines[60:], ""]))
        np.save(tmp_path / "x.npy", np.zeros((102, 1)))
        said = []
        for on_disk in (False, True):
            with pytest.raises(InputError) as error:
                read_graph(edges=tmp_path / f"{bad}.csv", features=tmp_path / "x.npy", edges_on_disk=on_disk)
            said.append(str(error.value))
        assert said[0] == said[1]
        assert "line 61" in said[0]


def test_what_edges_on_disk_cannot_do_is_told(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,weight\n0,1,2\n1,2,1\n")
    with pytest.raises(InputError, match="edges must have no weights, to be read in chunks, got the column 'weight'"):
        read_graph(edges=tmp_path / "edges.csv", features="degree", edges_on_disk=True)
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,2\n1,2\n")
    data = read_graph(edges=tmp_path / "edges.csv", features="degree", preprocess="none", edges_on_disk=True)
    assert data.x.tolist() == [[1], [2], [1]]
    give_up_edges(data, "P~")
    with pytest.raises(InputError, match="the executor must be this process for a graph whose edges are on disk"):
        precompute(data, out=tmp_path / "b", operator="P~", rows="all", executor=ProcessExecutor(2))
    assert not (tmp_path / "b").exists()
    with pytest.raises(InputError, match="device must be cpu for a graph whose edges are on disk"):
        data.edge_index.to(device="cuda")
