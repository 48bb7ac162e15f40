"""Malformed raw files: each gets one sentence that names the file, and nothing is left in the cache."""

import gzip
import pickle

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.data import load


def npz(**changes):
    """Replace arrays of an archive; None removes one."""

    def damage(written):
        arrays = dict(np.load(written["path"])) | changes
        np.savez(written["path"], **{key: value for key, value in arrays.items() if value is not None})

    return damage


def content(file, data):
    def damage(written):
        (written["folder"] / file).write_bytes(data)

    return damage


def pickled(part, value):
    return content(f"ind.cora.{part}", pickle.dumps(value, protocol=2))


def gone(file):
    def damage(written):
        (written["folder"] / file).unlink()

    return damage


def cut(file):
    def damage(written):
        path = written["folder"] / file
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    return damage


def mat(**changes):
    def damage(written):
        stored = {key: value for key, value in scipy.io.loadmat(written["path"]).items() if not key.startswith("__")} | changes
        scipy.io.savemat(written["path"], {key: value for key, value in stored.items() if value is not None})

    return damage


def gz(file, text):
    return content(file, gzip.compress(text.encode()))


def twitch(column, value, line=3):
    def damage(written):
        rows = [list(row) for row in written["rows"]]
        rows[line][raw.TWITCH_COLUMNS.index(column)] = value
        raw.write_csv(written["folder"] / "large_twitch_features.csv", raw.TWITCH_COLUMNS, rows)

    return damage


FEATURES, EDGES = "large_twitch_features.csv", "large_twitch_edges.csv"
INDEX = "ind.cora.test.index"
CORA, PHOTO, ROMAN = ("cora", raw.write_planetoid), ("photo", raw.write_amazon), ("roman-empire", raw.write_heterophilous)
PENN, GENIUS = ("penn94", raw.write_facebook100), ("genius", raw.write_genius)
TWITCH, OGB = ("twitch-gamers", raw.write_twitch), ("ogbn-arxiv", raw.write_ogb)

CASES = {
    # planetoid
    "missing part": (CORA, gone("ind.cora.tx"), r"cora must be below the data root .*got no file .*ind.cora.tx"),
    "empty pickle": (
        CORA,
        content("ind.cora.x", b""),
        r"ind.cora.x must be a pickle of one array .*got ValueError: pickle exhausted",
    ),
    "cut pickle": (CORA, cut("ind.cora.allx"), r"ind.cora.allx must be a pickle of one array"),
    "text for a pickle": (CORA, content("ind.cora.y", b"hello"), r"ind.cora.y must be a pickle of one array"),
    "list for a matrix": (CORA, pickled("ally", [1, 2]), r"ind.cora.ally must hold a matrix, got list"),
    "vector for a matrix": (CORA, pickled("ty", np.zeros(5)), r"ind.cora.ty must hold a matrix, got ndarray"),
    "too few label rows": (CORA, pickled("ty", np.eye(3)[:2]), r"ind.cora.ty must have a row for each of the 5 rows"),
    "other classes": (CORA, pickled("y", np.eye(4)), r"ind.cora.y must have 3 classes, as ally, got 4"),
    "other features": (CORA, pickled("tx", np.ones((5, 9))), r"ind.cora.tx must have 6 features, as allx, got 9"),
    "graph is a list": (CORA, pickled("graph", [[1], [0]]), r"ind.cora.graph must be a dictionary from a node"),
    "neighbour outside": (CORA, pickled("graph", {0: [99]}), r"cora: edges must be node indices from 0 to 13, got 99"),
    "neighbour is a text": (CORA, pickled("graph", {0: ["a"]}), r"ind.cora.graph must be a dictionary .*ValueError"),
    "index is a text": (CORA, content(INDEX, b"9\nten\n"), r"test.index must be one node index per line"),
    "repeated index": (CORA, content(INDEX, b"9\n9\n10\n11\n12\n"), r"test.index must hold different indices from 9"),
    "small index": (CORA, content(INDEX, b"3\n9\n10\n11\n12\n"), r"test.index must hold different indices"),
    "too few indices": (CORA, content(INDEX, b"9\n10\n"), r"an index for each of the 5 rows of tx, got 2"),
    # numpy archives
    "no archive": (PHOTO, content("amazon_electronics_photo.npz", b"PK nonsense"), r"must be a numpy archive of plain arrays"),
    "missing array": (PHOTO, npz(labels=None), r"photo.npz must have the arrays .*got no labels"),
    "column outside": (PHOTO, npz(attr_indices=np.full(99, 50)), r"photo.npz must be two sparse matrices in CSR parts"),
    "labels too short": (PHOTO, npz(labels=np.zeros(3, int)), r"photo: y must be one integer for each of the 14 nodes"),
    "cut archive": (ROMAN, cut("roman_empire.npz"), r"roman_empire.npz must be a numpy archive of plain arrays"),
    "edges transposed": (ROMAN, npz(edges=np.zeros((2, 9), int)), r"must have edges of shape E x 2, got \(2, 9\)"),
    "edge outside": (ROMAN, npz(edges=np.array([[0, 14]])), r"edges must be node indices from 0 to 13, got 14"),
    "negative edge": (ROMAN, npz(edges=np.array([[0, -1]])), r"edges must be node indices from 0 to 13, got -1"),
    "missing feature": (ROMAN, npz(node_features=np.full((14, 6), np.nan)), r"x must be .*got NaN or infinity"),
    "features a vector": (ROMAN, npz(node_features=np.zeros(14)), r"roman-empire: x must be N x F finite numbers"),
    "mask too short": (ROMAN, npz(val_masks=np.zeros((2, 5), bool)), r"val_mask must be N x S booleans with N = 14"),
    # MATLAB
    "text for MATLAB": (PENN, content("data.mat", b"x" * 200), r"data.mat must be a MATLAB file"),
    "cut MATLAB": (PENN, cut("data.mat"), r"data.mat must be a MATLAB file"),
    "missing variable": (PENN, mat(local_info=None), r"data.mat must have the variables A, local_info, got no local_info"),
    "wrong shapes": (PENN, mat(local_info=np.ones((3, 7))), r"have A of shape N x N .*got \(14, 14\) and \(3, 7\)"),
    "six columns": (PENN, mat(local_info=np.ones((14, 6))), r"local_info of shape N x 7, got .*\(14, 6\)"),
    "third gender": (PENN, mat(local_info=np.full((14, 7), 3)), r"penn94: y must be below the number of classes, 2, got 2"),
    "splits of numbers": (
        PENN,
        lambda w: np.save(next(w["folder"].glob("*.npy")), np.ones(3)),
        r"splits.npy must be .*RefusedPickle",
    ),
    "genius without labels": (GENIUS, mat(label=None), r"data.mat must have the variables .*got no label"),
    "genius split outside": (GENIUS, lambda w: outside(next(w["folder"].glob("*.npy"))), r"node indices from 0 to 13, got 99"),
    # CSV
    "empty csv": (TWITCH, content(FEATURES, b""), r"large_twitch_features.csv must be a CSV file .*Empty CSV"),
    "missing column": (TWITCH, content(FEATURES, b"views,mature\n1,0\n"), r"features.csv must be a CSV file .*'numeric_id'"),
    "text for a number": (TWITCH, twitch("views", "many"), r"features.csv must be a CSV file .*'many'"),
    "empty field": (TWITCH, twitch("views", ""), r"features.csv must have a value of views in each line, got 1 empty"),
    "bad date": (TWITCH, twitch("created_at", "yesterday"), r"must have dates like 2017-02-19 in created_at"),
    "repeated id": (TWITCH, twitch("numeric_id", 77), r"must number its 14 nodes from 0 to 13, got numeric_id"),
    "bad label": (TWITCH, twitch("mature", 2), r"twitch-gamers: y must be below the number of classes, 2, got 2"),
    "edge line": (TWITCH, content(EDGES, b"numeric_id_1,numeric_id_2\n0,1\n2\n"), r"edges.csv must be .*Row #3"),
    "no gzip": (OGB, content("raw/edge.csv.gz", b"0,1\n"), r"edge.csv.gz must be a CSV file"),
    "three columns": (OGB, gz("raw/edge.csv.gz", "0,1,2\n"), r"edge.csv.gz must have two columns, got 3"),
    "edge is a text": (OGB, gz("raw/edge.csv.gz", "0,one\n"), r"edge.csv.gz must be a CSV file .*'one'"),
    "too few labels": (OGB, gz("raw/node-label.csv.gz", "1\n"), r"a line for each of the 14 nodes, got 1"),
    "empty index": (OGB, gz("split/time/valid.csv.gz", "1\n99\n"), r"valid.csv.gz must hold node indices from 0 to 13, got 99"),
    "no split": (OGB, gone("split/time/test.csv.gz"), r"ogbn-arxiv must be below the data root .*got no file .*test.csv"),
}


def outside(path):
    np.save(path, np.array([{"train": np.array([99]), "valid": np.array([1]), "test": np.array([2])}], dtype=object))


@pytest.mark.parametrize("case", CASES)
def test_malformed_files_get_one_sentence_and_leave_nothing(case, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("CHEBNET2D_CACHE", str(cache))
    (name, write), damage, message = CASES[case]
    damage(write(tmp_path / "root"))
    with pytest.raises(InputError, match=message) as caught:
        load(name, tmp_path / "root")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700
    assert not cache.exists()
