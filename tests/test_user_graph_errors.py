"""Malformed graphs: each ends in one sentence that names the file, the line and the value, and leaves nothing behind."""

import io
import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from chebnet2d import InputError
from chebnet2d.data.own_graph import from_networkx, read_graph, write_graph

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
# fmt: off
CASES: dict[str, tuple[dict[str, Content], dict[str, Any], str]] = {}


def case(name: str, files: dict[str, Content], expected: str, **arguments: Any) -> None:
    assert name not in CASES
    CASES[name] = (files, {"path": ".", **arguments}, expected)


# ---- edges ---------------------------------------------------------------------------------------------------
case("weight is a word", {"edges.csv": "source,target,weight\n" + "0,1,1\n" * 15 + "0,1,abc\n", "features.csv": X},
     "edges.csv, line 17: weight must be a finite number >= 0, got 'abc'.")
case("weight is negative", {"edges.csv": "source,target,w\n0,1,1\n1,2,-0.5\n", "features.csv": X},
     "edges.csv, line 3: weight (column 'w') must be a finite number >= 0, got '-0.5'.")
case("weight is infinite", {"edges.csv": "source,target,weight\n0,1,inf\n", "features.csv": X},
     "edges.csv, line 2: weight must be a finite number >= 0, got 'inf'.")
case("weight is too large", {"edges.csv": "0,1,1\n0,1,1e99\n", "features.csv": X},
     "edges.csv, line 2: weight must be a finite number >= 0, got '1e99'.")
case("weight is empty", {"edges.csv": "source,target,weight\n\n0,1,1\n\n1,2,\n", "features.csv": X},
     "edges.csv, line 5: weight must be a finite number >= 0, got ''.")
case("weight in Parquet is text", {"edges.parquet": parquet(u=[0], v=[1], weight=["1"]), "features.csv": X},
     "edges.parquet: weight must be a column of numbers, got type string.")
case("weight in Parquet is negative", {"edges.parquet": parquet(u=[0, 1], v=[1, 2], weight=[1.0, -2.0]), "features.csv": X},
     "edges.parquet, row 1 (from 0): weight must be a finite number >= 0, got -2.0.")
case("too few columns", {"edges.csv": "source,target\n0,1\n2\n", "features.csv": X},
     "edges.csv, line 3: a line must have 2 columns as the first one, got 1: '2'.")
case("too many columns", {"edges.tsv": "source\ttarget\n0\t1\n0\t1\t2\n", "features.csv": X},
     "edges.tsv, line 3: a line must have 2 columns as the first one, got 3: '0\\t1\\t2'.")
case("one column", {"edges.csv": "source\n0\n", "features.csv": X},
     "edges.csv: an edge table must have at least two columns, got 1: ['source'].")
case("no line", {"edges.csv": "", "features.csv": X}, "edges.csv: the file must hold at least one line, got an empty one.")
case("id is missing", {"edges.csv": "source,target\n0,1\n,2\n", "features.csv": X},
     "edges.csv, line 3: id (column 'source') must be an id, got ''.")
case("id in Parquet is null", {"edges.parquet": parquet(u=[0, 1], v=[1, None]), "features.csv": X},
     "edges.parquet, row 1 (from 0): id (column 'v') must be an id, got None.")
case("id in Parquet is a fraction", {"edges.parquet": parquet(u=[0.0, 0.5], v=[1, 2]), "features.csv": X},
     "edges.parquet, row 1 (from 0): id (column 'u') must be an integer or text, got 0.5.")
case("id in Parquet is a list", {"edges.parquet": parquet(u=[[0]], v=[[1]]), "features.csv": X},
     "edges.parquet: id (column 'u') must be a column of integers or text, got type list<element: int64>.")
case("id beyond the rows", {"edges.csv": "source,target\n0,1\n1,3\n", "features.csv": X},
     "edges.csv, line 3: id (column 'target') must be a node number from 0 to 2, got '3'. The rows of features.csv have no "
     "ids, so they are the nodes 0 to 2; an id column there allows any ids.")
case("id is a name, rows have none", {"edges.csv": "source,target\n0,ann\n", "features.csv": X},
     "edges.csv, line 2: id (column 'target') must be a node number from 0 to 2, got 'ann'. The rows of features.csv have "
     "no ids, so they are the nodes 0 to 2; an id column there allows any ids.")
case("id without features", {"edges.csv": "source,target\na,b\nb,zoë\n", "features.csv": "id,f\nb,1\na,2\n"},
     "edges.csv, line 3: node 'zoë' must be in features.csv, got no row for it. Add one, or pass missing_features='zero' or "
     "'mean' (--missing-features).")
case("not UTF-8", {"edges.csv": "source,target\na,b\nM\xfcller,a\n".encode("latin-1"), "features.csv": X},
     "edges.csv, line 3: text must be UTF-8, got b'M\\xfcller,a\\n'. Save the file as UTF-8.")
case("unknown column", {"edges.csv": EDGES, "features.csv": X},
     "edges.csv: source must be one of its columns ('source', 'target'), got 'quelle'.", source="quelle", target="target")
case("half a pair of columns", {"edges.csv": EDGES, "features.csv": X},
     "edges.csv: source and target must be named together, got source='source' and target=None.", source="source")
case("half a header", {"edges.csv": "source,ziel\na,b\n", "features.csv": X},
     "edges.csv: the header must name both ends of an edge (such as source and target), got 'source', 'ziel'. Name them by "
     "source= and target= (--source-column, --target-column).")
case("not Parquet", {"edges.parquet": "source,target\n0,1\n", "features.csv": X},
     "edges.parquet: the file must be Parquet, got: ...")

# ---- features ------------------------------------------------------------------------------------------------
case("no features", {"edges.csv": EDGES},
     "graph: features must come from somewhere, got none. Pass a features file (--features), or features='degree' (one "
     "number, how many neighbours a node has), or features='identity' (a feature of its own for each node).")
case("value is missing", {"edges.csv": EDGES, "features.csv": "id,age,f\n0,1,1\n1,NA,2\n2,3,3\n"},
     "features.csv, line 3: column 'age' must have a value, got none. Fill such values by missing_features='zero' or 'mean' "
     "(--missing-features).")
case("value is a word", {"edges.csv": EDGES, "features.csv": "id,colour\n0,red\n1,blue\n2,red\n"},
     "features.csv, line 2: column 'colour' must be a number, got 'red'. Encode a column of words by categorical='one-hot' "
     "(--categorical one-hot), leave it out by ignore=['colour'], or name it by node_id= (--id-column) or label= "
     "(--label-column) if it holds that.")
case("value is a date", {"edges.csv": EDGES, "features.csv": "id,day\n0,2020-01-01\n1,2020-01-02\n2,2020-01-03\n"},
     "features.csv, line 2: column 'day' must be a number, got '2020-01-01'. Encode a column of words by "
     "categorical='one-hot' (--categorical one-hot), leave it out by ignore=['day'], or name it by node_id= (--id-column) or "
     "label= (--label-column) if it holds that.")
case("one word among numbers", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,oops\n2,3\n"},
     "features.csv, line 3: column 'f' must be a number, got 'oops'. Most of the column is numbers: correct the value, or "
     "leave it empty and pass missing_features='zero' or 'mean'.", categorical="one-hot")
case("value is infinite", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,inf\n2,3\n"},
     "features.csv, line 3: column 'f' must be a finite number, got inf.")
case("id twice", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,2\n2,3\n1,4\n2,5\n"},
     "features.csv, line 5: id must occur once, got '1' again (line 3 has it).")
case("header or row", {"edges.csv": EDGES, "features.csv": "paper,0.5\n0,1\n"},
     "features.csv, line 1: a header must be told from a row, got words and numbers: 'paper,0.5'. Pass header=True or False; "
     "name the id column by node_id= (--id-column), by its position ('0') if there is no header.")
case("unknown id column", {"edges.csv": EDGES, "features.csv": X},
     "features.csv: node_id must be one of its columns ('f', 'g'), got 'key'.", node_id="key")
case("unknown column to leave out", {"edges.csv": EDGES, "features.csv": X},
     "features.csv: ignore must be one of its columns ('f', 'g'), got 'h'.", ignore=["h"])
case("two feature files", {"edges.csv": EDGES, "features.csv": X, "nodes.csv": X},
     ".: one file of its kind must be there, got features.csv and nodes.csv. Remove one, or name the one to use.")
case("npy of objects", {"edges.csv": EDGES, "features.npy": npy(np.array([[None, 1]], dtype=object))},
     "features.npy must be plain numbers or text, got pickled objects, which are never loaded.")
case("npy of three dimensions", {"edges.csv": EDGES, "features.npy": npy(np.zeros((3, 2, 1)))},
     "features.npy: the array must be a matrix with a row for each node, got shape (3, 2, 1).")
case("npy of text", {"edges.csv": EDGES, "features.npy": npy(np.array([["a"], ["b"], ["c"]]))},
     "features.npy: the array must hold real numbers, got dtype <U1. Encode words as numbers first.")
case("npy with NaN", {"edges.csv": EDGES, "features.npy": npy(np.array([[1, 2], [3, np.nan], [5, 6]]))},
     "features.npy: the array in row 1, column 1 (from 0) must have a value, got none. Fill such values by "
     "missing_features='zero' or 'mean' (--missing-features).")
case("npy cut off", {"edges.csv": EDGES, "features.npy": npy(np.zeros((30, 2)))[:-9]},
     "features.npy cannot be read: ...")
case("sparse with an index outside", {"edges.csv": EDGES, "features.npz": sparse(indices=[0, 7])},
     "features.npz: the matrix must be the parts of a CSR matrix that fit each other, got: ...")
case("sparse with a falling indptr", {"edges.csv": EDGES, "features.npz": sparse(indptr=[0, 3, 2])},
     "features.npz: the matrix must be the parts of a CSR matrix that fit each other, got: ...")
case("sparse in another format", {"edges.csv": EDGES, "features.npz": sparse(format=np.array(b"bsr"))},
     "features.npz: the matrix must be in the format csr, csc or coo with its parts, got 'bsr' with format, shape, data, "
     "indices, indptr.")
case("npz without a matrix", {"edges.csv": EDGES, "features.npz": npz(a=[1])},
     "features.npz: the archive must hold a sparse matrix (as scipy.sparse.save_npz writes it) or a matrix x, got a.")
case("Parquet lists of two lengths", {"edges.csv": EDGES, "features.parquet": parquet(id=[0, 1, 2], e=[[1.0], [1.0, 2.0], None])},
     "features.parquet, row 1 (from 0): column 'e' must hold lists of 1 numbers as the first row, got 2.")
case("Parquet of structures", {"edges.csv": EDGES, "features.parquet": parquet(id=[0], s=[{"a": 1}])},
     "features.parquet: column 's' must hold numbers or text, got type struct<a: int64>.")

# ---- labels --------------------------------------------------------------------------------------------------
case("label of an unknown node",
     {"edges.csv": "a,b\nb,a\n", "features.csv": "id,f\na,1\nb,2\n", "labels.csv": "id,label\na,x\nc,y\n"},
     "labels.csv, line 3: node 'c' must be in features.csv, got no row for it. Add one, or pass missing_features='zero' or "
     "'mean' (--missing-features).")
case("label twice", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,x\n0,y\n"},
     "labels.csv, line 3: id must occur once, got '0' again (line 2 has it).")
case("label is a fraction", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,1\n1,0.37\n"},
     "labels.csv, line 3: label must be a class (a word or an integer), got '0.37'.")
case("label is -1", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,1\n1,-1\n"},
     "labels.csv, line 3: label must be a class, got '-1'. -1 is a class for some and the lack of a label for others. Leave "
     "the field empty for a node without a label, or say which it is: unlabelled='-1' (--unlabelled=-1), or unlabelled='' "
     "(--unlabelled=) if it is a class.")
case("label is NA", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,yes\n1,no\n2,NA\n"},
     "labels.csv, line 4: label must be a class, got 'NA'. NA is a class for some and ...")
case("label is -1 among words", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,yes\n1,no\n2,-1\n"},
     "labels.csv, line 4: label must be a class, got '-1'. -1 is a class for some and ...")
case("labels of another length", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "label\nx\ny\n"},
     "labels.csv: labels without ids must have a row for each of the 3 rows of features.csv, got 2.")
case("labels without ids", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,1\n2,1\n", "labels.csv": "label\nx\ny\nx\n"},
     "labels.csv: labels must have an id column, because features.csv has one, got 'label'. Name it by node_id= (--id-column).")
case("labels twice", {"edges.csv": EDGES, "nodes.csv": "id,f,label\n0,1,x\n1,1,x\n2,1,y\n", "labels.csv": "id,label\n0,x\n"},
     "nodes.csv: labels must come from one place, got the column 'label' beside a labels file. Leave the column out by "
     "ignore=['label'], or do without the file.")
case("labels of unknown columns", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,p,q\n0,1,2\n"},
     "labels.csv: a labels table must have an id column and a label column, got 'id', 'p', 'q'. Name them by node_id= and "
     "label= (--id-column, --label-column).")

# ---- whole graphs --------------------------------------------------------------------------------------------
case("npz without edges", {"g.npz": npz(x=np.eye(2))},
     "g.npz: the archive must hold edge_index (and of x, x_data, x_indices, x_indptr, x_shape, y, edge_weight, ids, "
     "class_names), got x.", path="g.npz")
case("npz with edges on their side", {"g.npz": npz(x=np.eye(3), edge_index=np.zeros((3, 2), int))},
     "g.npz: edge_index must be 2 x E integers, got shape (3, 2). Transpose it?", path="g.npz")
case("npz with fractions for nodes", {"g.npz": npz(x=np.eye(2), edge_index=INDEX + 0.5)},
     "g.npz: edge_index must be 2 x E integers, got dtype float64.", path="g.npz")
case("npz with negative nodes", {"g.npz": npz(x=np.eye(2), edge_index=INDEX - 1)},
     "g.npz: edge_index must be >= 0, got -1.", path="g.npz")
case("npz with nodes beyond x", {"g.npz": npz(x=np.eye(2), edge_index=INDEX + 1)},
     "g.npz: edge_index must be below the number of nodes, 2, got 2.", path="g.npz")
case("npz with y too short", {"g.npz": npz(x=np.eye(2), edge_index=INDEX, y=[0])},
     "g.npz: y must have one label for each of the 2 nodes, got shape (1,).", path="g.npz")
case("npz with y of fractions", {"g.npz": npz(x=np.eye(2), edge_index=INDEX, y=[0.0, 0.5])},
     "g.npz, y[1]: label (column 'y') must be a class (a word or an integer), got 0.5.", path="g.npz")
case("npz with a class too many", {"g.npz": npz(x=np.eye(2), edge_index=INDEX, y=[0, 2], class_names=["a", "b"])},
     "g.npz: y must be from -1 to 1 (class_names has 2), got 2 at node 1.", path="g.npz")
case("npz with a NaN weight", {"g.npz": npz(x=np.eye(2), edge_index=INDEX, edge_weight=[1, np.nan])},
     "g.npz: edge_weight must be finite numbers >= 0, got nan at edge 1.", path="g.npz")
case("npz with an id twice", {"g.npz": npz(x=np.eye(2), edge_index=INDEX, ids=["a", "a"])},
     "g.npz: ids must be distinct, got 'a' more than once.", path="g.npz")
case("npz with half a sparse x", {"g.npz": npz(x_data=[1.0], edge_index=INDEX)},
     "g.npz: a sparse x must have the parts x_data, x_indices, x_indptr, x_shape, got none of x_indices, x_indptr, x_shape.",
     path="g.npz")
case("npz without features", {"g.npz": npz(edge_index=INDEX)},
     "g.npz: features must come from somewhere, got none. Pass a features file (--features), or features='degree' (one "
     "number, how many neighbours a node has), or features='identity' (a feature of its own for each node).", path="g.npz")
case("npz that is no archive", {"g.npz": "not an archive"},
     "g.npz: the file must be an archive of numpy (.npz), got one that begins with b'no'.", path="g.npz")
case("npz cut off", {"g.npz": npz(edge_index=INDEX)[:-30]}, "g.npz cannot be read: ...", path="g.npz")
case("npy that is an archive", {"edges.csv": EDGES, "features.npy": npz(x=np.eye(3))},
     "features.npy: the file must be an array of numpy (.npy), got one that begins with b'PK...")
case("npz beside edges", {"g.npz": npz(edge_index=INDEX), "edges.csv": EDGES},
     "g.npz: the file must stand alone, got edges beside it.", path="g.npz", edges="edges.csv")
case("safetensors of something else", {"g.safetensors": safetensors({"__metadata__": {"format": "pt"}})},
     "g.safetensors: the file must be a graph that write_graph wrote, got another safetensors file.", path="g.safetensors")
case("safetensors of the future", {"g.safetensors": safetensors({"__metadata__": {"chebnet2d_graph": '{"version": 9}'}})},
     "g.safetensors: the file must have version 1, got 9. A newer chebnet2d may read it.", path="g.safetensors")
case("safetensors without attributes", {"g.safetensors": safetensors({"__metadata__": {"chebnet2d_graph": '{"version": 1}'}})},
     "g.safetensors: the file is damaged: KeyError: 'attributes'.", path="g.safetensors")
case("safetensors cut off", {"g.safetensors": b"\x05\x00"},
     "g.safetensors: the file must be safetensors, got: ...", path="g.safetensors")
case("GraphML cut off", {"g.graphml": graphml('<node id="a"/>')[:-12]},
     "g.graphml, line 4: the file must be XML, got an error: ...", path="g.graphml")
case("GraphML with a word for a number", {"g.graphml": graphml('<node id="a"><data key="d0">old</data></node>', KEY)},
     "g.graphml, line 4: age must be a number (double), got 'old'.", path="g.graphml")
case("GraphML without a source", {"g.graphml": graphml('<node id="a"/>\n<edge target="a"/>')},
     "g.graphml, line 4: edge must have the attribute source, got none.", path="g.graphml")
case("GraphML with an unknown key", {"g.graphml": graphml('<node id="a"><data key="d7">1</data></node>', KEY)},
     "g.graphml, line 4: data must have a key that is declared, got 'd7'.", path="g.graphml")
case("GraphML with an undeclared node",
     {"g.graphml": graphml('<node id="a"><data key="d0">1</data></node>\n<edge source="a" target="b"/>', KEY)},
     "g.graphml, line 5: node 'b' must be in g.graphml, got no row for it. Add one, or pass missing_features='zero' or 'mean' "
     "(--missing-features).", path="g.graphml")
case("GraphML with a node twice", {"g.graphml": graphml('<node id="a"/>\n<node id="a"/>')},
     "g.graphml, line 4: id must occur once, got 'a' again (line 3 has it).", path="g.graphml")
case("GraphML with a value missing", {"g.graphml": graphml('<node id="a"><data key="d0">1</data></node>\n<node id="b"/>', KEY)},
     "g.graphml, line 5: column 'age' must have a value, got none. Fill such values by missing_features='zero' or 'mean' "
     "(--missing-features).", path="g.graphml")
case("GraphML with entities",
     {"g.graphml": '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n' + graphml('<node id="&b;"/>')},
     "g.graphml, line 1: GraphML must have no document type, got one. Entities could make a small file endless.",
     path="g.graphml")
case("GraphML that is HTML", {"g.graphml": "<html></html>"},
     "g.graphml, line 1: the first element must be graphml, got 'html'.", path="g.graphml")

# ---- arguments -----------------------------------------------------------------------------------------------
case("nothing at all", {}, "read_graph: path or edges must be given, got neither.", path=None)
case("no such folder", {}, "read_graph: path must be a folder or file that exists, got 'my-graph/'.", path="my-graph/")
case("empty folder", {"notes.txt": "x"}, ".: the folder must hold edges.csv, edges.tsv or edges.parquet, got notes.txt.")
case("no such file", {"edges.csv": EDGES}, "read_graph: labels must be a file that exists, got 'y.csv'.", labels="y.csv")
case("no such word", {"edges.csv": EDGES},
     "read_graph: features must be a file that exists, got 'degrees'. The words for features without a file are 'degree' and "
     "'identity'.", features="degrees")
case("a pickled Data", {"g.pt": b"\x80\x04N."},
     "read_graph: path must be a folder, an edge table (.csv, .tsv, .parquet) or a graph (.npz, .safetensors, .graphml), got "
     "'g.pt'. Such files can run code when they are read; write the Data with chebnet2d.data.own_graph.write_graph instead.",
     path="g.pt")
case("labels of a foreign kind", {"edges.csv": EDGES, "features.csv": X, "y.npy": npy([1])},
     "read_graph: labels must be a file of the kind .csv, .tsv, .parquet, .pq, got 'y.npy'.", labels="y.npy")
case("unknown option", {"edges.csv": EDGES, "features.csv": X},
     "read_graph: missing_features must be one of 'error', 'zero', 'mean', got 'mea' (str). Did you mean 'mean'?",
     missing_features="mea")


# fmt: on
def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_and_nothing_left_behind(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, arguments, expected = CASES[name]
    folder = tmp_path / "graph"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for file, content in files.items():
        Path(file).write_bytes(content.encode() if isinstance(content, str) else content)
    before = snapshot(tmp_path)
    with pytest.raises(InputError) as caught:
        read_graph(**arguments)
    # The end of some sentences is the word of another library.
    assert str(caught.value).startswith(expected[:-3]) if expected.endswith("...") else str(caught.value) == expected
    assert snapshot(tmp_path) == before


# ---- what must not run ---------------------------------------------------------------------------------------
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


# ---- damage ---------------------------------------------------------------------------------------------------
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
        return read_graph(folder, categorical="one-hot", missing_features="zero")
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


# ---- writing and networkx ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"edge_index": None}, "write_graph: data must be a torch_geometric Data with edge_index, got"),
        ({"helper": object()}, "write_graph: helper must be a tensor, a string, a number, or a list of these, got <object"),
        ({"pair": (1, 2)}, "write_graph: pair must be a tensor, a string, a number, or a list of these, got \\(1, 2\\)"),
        ({"rows": np.array([None, 1])}, "write_graph: rows must be an array of numbers or of strings, got ndarray"),
        ({"a.b": "c"}, "write_graph: data must be made of attributes without a dot in their names, got 'a.b'"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    data = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    for key, value in change.items():
        data[key] = value
    with pytest.raises(InputError, match=sentence):
        write_graph(data, tmp_path / "g.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_breaks_off_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    path = write_graph(data, tmp_path / "g.safetensors")
    before = path.read_bytes()

    def full(tensors: Any, name: str, metadata: Any) -> None:
        Path(name).write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr("chebnet2d.data.own_graph.saved_graph.save_file", full)
    with pytest.raises(OSError, match="No space left"):
        write_graph(data, path)
    assert snapshot(tmp_path) == {"g.safetensors": before}
    with pytest.raises(InputError, match=r"path must be a file with the suffix \.safetensors, got '"):
        write_graph(data, tmp_path / "g.pt")
    with pytest.raises(InputError, match="path must be in a folder that exists"):
        write_graph(data, tmp_path / "no" / "g.safetensors")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": torch.tensor([0, 5])}, "y must be from -1 to 1"),
        ({"y": torch.tensor([0.5, 1])}, "y must hold class indices"),
        ({"y": torch.tensor([0])}, "y must have one label for each of the 2 nodes"),
        ({"x": torch.tensor([[1.0], [float("nan")]])}, "x in row 1, column 0 \\(from 0\\) must have a value"),
        ({"x": torch.tensor([[1.0], [float("inf")]])}, "x in row 1, column 0 \\(from 0\\) must be a finite number, got inf"),
        ({"x": None}, "features must come from somewhere"),
        ({"edge_index": torch.tensor([[0], [2]])}, "edge_index must be below the number of nodes, 2, got 2"),
        ({"edge_weight": torch.tensor([-1.0])}, "edge_weight must be finite numbers >= 0, got -1.0 at edge 0"),
        ({"node_ids": np.array(["a", "a"])}, "ids must be distinct, got 'a' more than once"),
        ({"class_names": "ab"}, "class_names must be a list of strings, got 'ab'"),
    ],
)
def test_saved_graphs_are_checked_when_they_are_read(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    data = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1]), class_names=["a", "b"])
    for key, value in change.items():
        data[key] = value
    path = write_graph(data, tmp_path / "g.safetensors")
    with pytest.raises(InputError, match=f"g.safetensors: {sentence}"):
        read_graph(path)


def test_sparse_parts_of_a_saved_graph_are_checked(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    matrix = scipy.sparse.csr_array(np.eye(2))
    header = json.dumps({"version": 1, "attributes": {"x.shape": [2, 1]}})
    parts = {
        "edge_index": torch.tensor([[0], [1]]),
        "x.crow": torch.from_numpy(matrix.indptr),
        "x.col": torch.from_numpy(matrix.indices),
        "x.values": torch.from_numpy(matrix.data),
    }
    save_file(parts, tmp_path / "g.safetensors", metadata={"chebnet2d_graph": header})
    with pytest.raises(InputError, match="x must be the parts of a CSR matrix that fit each other, got: "):
        read_graph(tmp_path / "g.safetensors")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "graph, node 'a': column 'colour' must be a number, got 'red'. Encode a column of words by categorical='one-hot'"),
        ({"features": "f"}, "graph, node 'b': column 'f' must have a value, got none"),
        ({"features": ["height"]}, "from_networkx: features must be attributes of nodes, got 'height', which no node has"),
        ({"features": np.eye(3)}, "from_networkx: features must have a row for each of the 2 nodes, got 3"),
        ({"features": np.array(["a", "b"])}, "from_networkx: features must be a matrix with a row for each node, got shape"),
        ({"features": "degree", "weight": "length"}, "graph, edge ('a', 'b'): weight must be a finite number >= 0, got 'far'"),
        ({"features": "degree", "weight": "cost"}, "graph, edge ('a', 'b'): weight must be a finite number >= 0, got -1"),
        ({"features": "odd"}, "graph, node 'b': odd must be a number, text or a vector, as elsewhere, got {1}"),
    ],
)
def test_networkx_errors_name_the_node(arguments: dict[str, Any], sentence: str) -> None:
    graph = nx.Graph()
    graph.add_node("a", colour="red", f=1, odd=1)
    graph.add_node("b", colour="blue", odd={1})
    graph.add_edge("a", "b", length="far", cost=-1)
    if not arguments:
        del graph.nodes["a"]["odd"], graph.nodes["b"]["odd"], graph.nodes["a"]["f"]
    with pytest.raises(InputError) as caught:
        from_networkx(graph, **arguments)
    assert str(caught.value).startswith(sentence)


def test_networkx_needs_a_graph_with_features() -> None:
    with pytest.raises(InputError, match="from_networkx: graph must be a networkx graph, got 5"):
        from_networkx(5)
    with pytest.raises(InputError, match="features must come from somewhere, got none.*features='degree'"):
        from_networkx(nx.path_graph(3))
