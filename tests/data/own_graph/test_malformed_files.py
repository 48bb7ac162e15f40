"""Malformed files of whole graphs and wrong arguments: one sentence says what is wrong, and nothing is left behind."""

import numpy as np
import pytest

from file_contents import EDGES, INDEX, KEY, X, graphml, npy, npz, safetensors
from malformed_cases import Cases

# fmt: off
case = Cases()

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
     "g.npz: features must come from somewhere, got none. Give a file, 'degree' (how many neighbours a node "
     "has) or 'identity' (one feature per node) by features=.", path="g.npz")
case("npz that is no archive", {"g.npz": "not an archive"},
     "g.npz: the file must be an archive of numpy (.npz), got one that begins with b'no'.", path="g.npz")
case("npz cut off", {"g.npz": npz(edge_index=INDEX)[:-30]}, "g.npz must be a file that can be read, got: ...", path="g.npz")
case("npy that is an archive", {"edges.csv": EDGES, "features.npy": npz(x=np.eye(3))},
     "features.npy: the file must be an array of numpy (.npy), got one that begins with b'PK...")
case("npz beside edges", {"g.npz": npz(edge_index=INDEX), "edges.csv": EDGES},
     "g.npz: the file must stand alone, got edges beside it.", path="g.npz", edges="edges.csv")
case("safetensors of something else", {"g.safetensors": safetensors({"__metadata__": {"format": "pt"}})},
     "g.safetensors: the file must be a graph that write_graph wrote, got another safetensors file.", path="g.safetensors")
case("safetensors of the future", {"g.safetensors": safetensors({"__metadata__": {"chebnet2d_graph": '{"version": 9}'}})},
     "g.safetensors: the file must have version 1, got 9. A newer chebnet2d may read it.", path="g.safetensors")
case("safetensors without attributes", {"g.safetensors": safetensors({"__metadata__": {"chebnet2d_graph": '{"version": 1}'}})},
     "g.safetensors: the file must be whole, got: KeyError: 'attributes'.", path="g.safetensors")
case("safetensors cut off", {"g.safetensors": b"\x05\x00"},
     "g.safetensors: the file must be safetensors, got: ...", path="g.safetensors")
case("GraphML cut off", {"g.graphml": graphml('<node id="a"/>')[:-12]},
     "g.graphml, line 4: the file must be XML, got: ...", path="g.graphml")
case("GraphML with a word for a number", {"g.graphml": graphml('<node id="a"><data key="d0">old</data></node>', KEY)},
     "g.graphml, line 4: age must be a number (double), got 'old'.", path="g.graphml")
case("GraphML without a source", {"g.graphml": graphml('<node id="a"/>\n<edge target="a"/>')},
     "g.graphml, line 4: edge must have the attribute source, got none.", path="g.graphml")
case("GraphML with an unknown key", {"g.graphml": graphml('<node id="a"><data key="d7">1</data></node>', KEY)},
     "g.graphml, line 4: data must have a key that is declared, got 'd7'.", path="g.graphml")
case("GraphML with an undeclared node",
     {"g.graphml": graphml('<node id="a"><data key="d0">1</data></node>\n<edge source="a" target="b"/>', KEY)},
     "g.graphml, line 5: node 'b' must be in g.graphml, got no row for it. Add one, or choose 'zero' or 'mean' "
     "by missing_features=.", path="g.graphml", preprocess="none")
case("GraphML with a node twice", {"g.graphml": graphml('<node id="a"/>\n<node id="a"/>')},
     "g.graphml, line 4: id must occur once, got 'a' again (line 3 has it).", path="g.graphml")
case("GraphML with a value missing", {"g.graphml": graphml('<node id="a"><data key="d0">1</data></node>\n<node id="b"/>', KEY)},
     "g.graphml, line 5: column 'age' must have a value, got none. Fill such values with 'zero' or 'mean' by "
     "missing_features=.", path="g.graphml", preprocess="none")
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
     "'g.pt'. Such files can run code when they are read; write the Data with chebnet2d.data.write_graph instead.",
     path="g.pt")
case("labels of a foreign kind", {"edges.csv": EDGES, "features.csv": X, "y.npy": npy([1])},
     "read_graph: labels must be a file of the kind .csv, .tsv, .parquet, .pq, got 'y.npy'.", labels="y.npy")
case("unknown option", {"edges.csv": EDGES, "features.csv": X},
     "ReadOptions: missing_features must be one of 'error', 'zero', 'mean', got 'mea'. Did you mean 'mean'?",
     missing_features="mea")


# fmt: on
@pytest.mark.parametrize("name", case)
def test_one_sentence_and_nothing_left_behind(name, tmp_path, monkeypatch):
    case.check(name, tmp_path, monkeypatch)
