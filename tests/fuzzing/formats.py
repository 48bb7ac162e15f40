"""A sound file of each format that is read from a disk, and how it is read."""

import hashlib
import io
import json
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

import chebnet2d
import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.bases import Bases, precompute
from chebnet2d.bases.marks import read_marks
from chebnet2d.data.array_headers import quiet
from chebnet2d.data.catalogue import find_entry
from chebnet2d.data.own_graph import read_graph
from chebnet2d.data.raw_formats import RAW_FORMATS, mat_reader
from chebnet2d.data.raw_formats.linkx import linkx_masks
from chebnet2d.data.raw_formats.raw_files import mat_content
from chebnet2d.models import read_facts
from chebnet2d.preparation import Preparation
from chebnet2d.recipes.files import read_recipes
from chebnet2d.study import Protocol
from file_contents import INDEX, KEY, graphml, npy, npz, safetensors, sparse
from fuzz import Format
from small_study import PRESET

EDGES = b'source,target,weight\na,b,1\nb,"c,d",2.5\na,"c,d",1e-3\n'
NODES = b'id,f,kind,label\nb,1,r,x\na,2.5,g,y\n"c,d",3,,\n'
OPTIONS: dict[str, Any] = {"preprocess": "none", "categorical": "one-hot", "missing_features": "zero"}


def _beside(**files: bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for name, content in files.items():
            (folder / name.replace("_", ".")).write_bytes(content)

    return write


def _parquet(**columns: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _in_archive(archive: bytes, member: str) -> Callable[[bytes], bytes]:
    """The archive with another content of that member."""

    def wrapped(content: bytes) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                new.writestr(name, content if name == member else old.read(name))
        return stream.getvalue()

    return wrapped


def own_graphs() -> dict[str, Format]:
    header = {
        "__metadata__": {"chebnet2d_graph": '{"version": 1, "attributes": {"num_nodes": 2, "name": "g", "x.shape": [2, 3]}}'},
        "edge_index": {"dtype": "I64", "shape": [2, 1], "data_offsets": [0, 16]},
        "x.crow": {"dtype": "I64", "shape": [3], "data_offsets": [16, 40]},
        "x.col": {"dtype": "I64", "shape": [2], "data_offsets": [40, 56]},
        "x.values": {"dtype": "F32", "shape": [2], "data_offsets": [56, 64]},
    }
    body = struct.pack("<qqqqqqqff", 0, 1, 0, 1, 2, 0, 2, 1.0, 2.0)
    saved = safetensors(header, body)
    node = '<node id="a"><data key="d0">1</data></node>\n<node id="b"/>\n<edge source="a" target="b"/>'
    vectors = _parquet(id=["a", "b", "c,d"], v=pa.array([[1.0, 2.0], None, [3.0, 4.0]]), label=["x", "y", None])
    dictionary = pa.array(["a", "b", "a"]).dictionary_encode()
    graph = {"x": np.eye(2), "edge_index": INDEX, "y": ["a", ""], "ids": ["p", "q"], "edge_weight": [0.5, 0.5]}
    return {
        "csv-edges": Format("edges.csv", EDGES, lambda path: read_graph(path.parent, **OPTIONS), _beside(nodes_csv=NODES)),
        "csv-nodes": Format("nodes.csv", NODES, lambda path: read_graph(path.parent, **OPTIONS), _beside(edges_csv=EDGES)),
        "csv-encoded": Format("nodes.csv", NODES, lambda path: read_graph(path.parent), _beside(edges_csv=EDGES)),
        "tsv": Format("edges.tsv", b"u\tv\n0\t1\n1\t2\n", lambda path: read_graph(path, features="degree")),
        "parquet-edges": Format(
            "edges.parquet",
            _parquet(source=dictionary, target=["b", "c", "c"], weight=[1.0, 2.0, 3.0]),
            lambda path: read_graph(path, features="degree"),
        ),
        "parquet-nodes": Format(
            "nodes.parquet", vectors, lambda path: read_graph(path.parent, **OPTIONS), _beside(edges_csv=EDGES)
        ),
        "npy": Format(
            "x.npy", npy(np.eye(3)), lambda path: read_graph(edges=path.parent / "e.csv", features=path), _beside(e_csv=b"0,1\n")
        ),
        "npz": Format("g.npz", npz(**graph), read_graph),
        "npz-edges": Format("g.npz", npy(INDEX), read_graph, wrapped=_in_archive(npz(**graph), "edge_index.npy")),
        "npz-labels": Format("g.npz", npy(["a", ""]), read_graph, wrapped=_in_archive(npz(**graph), "y.npy")),
        "npz-parts": Format(
            "x.npz",
            npy([0, 1, 2]),
            lambda path: read_graph(edges=path.parent / "e.csv", features=path),
            _beside(e_csv=b"0,1\n"),
            _in_archive(sparse(), "indptr.npy"),
        ),
        "npz-sparse": Format(
            "x.npz", sparse(), lambda path: read_graph(edges=path.parent / "e.csv", features=path), _beside(e_csv=b"0,1\n")
        ),
        "graphml": Format(
            "g.graphml", graphml(node, KEY).encode(), lambda path: read_graph(path, preprocess="none", missing_features="zero")
        ),
        "safetensors": Format("g.safetensors", saved, read_graph),
        "safetensors-header": Format(
            "g.safetensors",
            json.dumps(header).encode(),
            read_graph,
            wrapped=lambda text: struct.pack("<Q", len(text)) + text + body,
        ),
    }


def _raw(write: Callable[..., Any], name: str, file: str, *, mat: bool = True) -> Format:
    """One file of a dataset; the others are sound. ``mat``: read all of them, and not the splits alone."""
    entry = find_entry(name)
    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary))
        sound = (Path(temporary) / entry.folder / file).read_bytes()

    def prepare(folder: Path) -> None:
        write(folder / "root")

    def read(path: Path) -> None:
        folder = path.parent / "root" / entry.folder
        shutil.copy(path, folder / file)
        RAW_FORMATS[entry.format].read(folder, entry) if mat else linkx_masks(folder, raw.NODES)

    return Format("file", sound, read, prepare)


def _mat() -> Format:
    """As in the process that reads .mat files."""
    sound = _raw(raw.write_facebook100, "penn94", "data.mat").sound

    def read(path: Path) -> None:
        with quiet():
            try:
                mat_reader.convert(path, path.with_suffix(".npz"), ["A", "local_info"])
            except Exception:  # is printed there, and the first line of it is the sentence
                raise InputError("load", "the file", "a MATLAB file", got="another one") from None
        mat_content(path.with_suffix(".npz"), ("A", "local_info"))

    return Format("data.mat", sound, read, alone=True)


def raw_files() -> dict[str, Format]:
    return {
        "pickle-splits": _raw(raw.write_facebook100, "penn94", "fb100-Penn94-splits.npy", mat=False),
        "pickle-matrix": _raw(raw.write_planetoid, "cora", "ind.cora.allx"),
        "pickle-graph": _raw(raw.write_planetoid, "cora", "ind.cora.graph"),
        "raw-npz": _raw(raw.write_heterophilous, "roman-empire", "roman_empire.npz"),
        "mat": _mat(),
    }


def models() -> dict[str, Format]:
    stream = chebnet2d.ChebNet2D(5, 3, degree=2, hidden_channels=4)
    facts = {"transform": "standardize", "scale": {"mean": [0.0] * 5, "deviation": [1.0] * 5}, "class_names": ["a", "b", "c"]}
    facts["read_options"] = {"label": "kind", "features": "degree"}
    with tempfile.TemporaryDirectory() as temporary:
        folder = chebnet2d.save(stream, Path(temporary) / "model", facts=facts)
        config = (folder / "config.json").read_bytes()
        weights_path = folder / "model.safetensors"
        name, weights = weights_path.name, weights_path.read_bytes()

    def load(folder: Path) -> None:
        chebnet2d.load(folder)
        Preparation.from_json(read_facts(folder))

    def signed(path: Path) -> None:
        """The sum in the configuration is that of the damaged weights: else it would be all that is tried."""
        facts = json.loads(config)
        facts["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        (path.parent / "config.json").write_text(json.dumps(facts))
        load(path.parent)

    def beside(folder: Path) -> None:
        (folder / name).write_bytes(weights)

    def of_another_save(folder: Path) -> None:
        """So that the configuration within the weights is read."""
        (folder / "config.json").write_text(json.dumps({**json.loads(config), "sha256": "0" * 64}))

    return {
        "model-config": Format("config.json", config, lambda path: load(path.parent), beside),
        "model-weights": Format(name, weights, signed),
        "model-within": Format(name, weights, lambda path: load(path.parent), of_another_save),
    }


def bases() -> dict[str, Format]:
    data = chebnet2d.data.load("csbm", nodes=40, features=3, degree=4, seed=1)
    facts = Preparation.fit(data, "standardize").as_file()
    with tempfile.TemporaryDirectory() as temporary:
        precompute(data, out=Path(temporary) / "b", degree=2, block=2, beside=facts)
        files = {path.name: path.read_bytes() for path in (Path(temporary) / "b").iterdir()}

    def read(path: Path) -> None:
        found = Bases.open(path.parent)
        found.read(torch.arange(len(found)))
        found.terms(found.nodes[:2])
        _ = found.basis
        read_marks(found.folder, found.num_nodes)
        Preparation.read(path.parent)

    def beside(name: str) -> Callable[[Path], None]:
        return lambda folder: [(folder / other).write_bytes(files[other]) for other in files if other != name]

    names = ("manifest.json", "rows.npy", "labels.npy", "marks.npy", "block-0000.npy", "preparation.json")
    return {f"bases-{name.split('.')[0]}": Format(name, files[name], read, beside(name)) for name in names}


def settings() -> dict[str, Format]:
    protocol = b'methods = ["chebnet2d"]\ndatasets = ["cora", "photo"]\nsplits = 2\n[limits.photo]\nepochs = 4\n'
    return {
        "preset": Format("p.toml", PRESET.encode(), lambda path: read_recipes(path, "chebnet2d")),
        "protocol": Format("p.toml", protocol, Protocol.from_toml),
    }


def all_formats() -> dict[str, Format]:
    return {**own_graphs(), **raw_files(), **models(), **bases(), **settings()}
