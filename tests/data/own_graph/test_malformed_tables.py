"""Malformed tables of a user's graph: one sentence names the file, the line and the value, and nothing is left behind."""

import numpy as np
import pytest

from file_contents import EDGES, X, npy, npz, parquet, sparse
from malformed_cases import Cases

# fmt: off
case = Cases()

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
     "edges.csv, line 3: node 'zoë' must be in features.csv, got no row for it. Add one, or choose 'zero' or "
     "'mean' by missing_features=.", preprocess="none")
case("not UTF-8", {"edges.csv": "source,target\na,b\nM\xfcller,a\n".encode("latin-1"), "features.csv": X},
     "edges.csv, line 3: text must be UTF-8, got b'M\\xfcller,a\\n'. Save the file as UTF-8.")
case("unknown column", {"edges.csv": EDGES, "features.csv": X},
     "edges.csv: source must be one of its columns ('source', 'target'), got 'quelle'.", source="quelle", target="target")
case("half a pair of columns", {"edges.csv": EDGES, "features.csv": X},
     "edges.csv: source and target must be named together, got source='source' and target=None.", source="source")
case("half a header", {"edges.csv": "source,ziel\na,b\n", "features.csv": X},
     "edges.csv: the header must name both ends of an edge (such as source and target), got 'source', 'ziel'. "
     "Name them by source= and target=.")
case("not Parquet", {"edges.parquet": "source,target\n0,1\n", "features.csv": X},
     "edges.parquet: the file must be Parquet, got: ...")

# ---- features ------------------------------------------------------------------------------------------------
case("no features", {"edges.csv": EDGES},
     "graph: features must come from somewhere, got none. Give a file, 'degree' (how many neighbours a node "
     "has) or 'identity' (one feature per node) by features=.")
case("value is missing", {"edges.csv": EDGES, "features.csv": "id,age,f\n0,1,1\n1,NA,2\n2,3,3\n"},
     "features.csv, line 3: column 'age' must have a value, got none. Fill such values with 'zero' or 'mean' by"
     " missing_features=.", preprocess="none")
case("value is a word", {"edges.csv": EDGES, "features.csv": "id,colour\n0,red\n1,blue\n2,red\n"},
     "features.csv, line 2: column 'colour' must be a number, got 'red'. Encode a column of words as 'one-hot' "
     "by categorical=, leave it out by ignore=, or name it by node_id= or label= if it holds that.", preprocess="none")
case("value is a date", {"edges.csv": EDGES, "features.csv": "id,day\n0,2020-01-01\n1,2020-01-02\n2,2020-01-03\n"},
     "features.csv, line 2: column 'day' must be a number, got '2020-01-01'. Encode a column of words as 'one-"
     "hot' by categorical=, leave it out by ignore=, or name it by node_id= or label= if it holds that.", preprocess="none")
case("one word among numbers", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,oops\n2,3\n"},
     "features.csv, line 3: column 'f' must be a number, got 'oops'. Most of the column is numbers: correct the"
     " value, or leave it empty and choose 'zero' or 'mean' by missing_features=.", categorical="one-hot", preprocess="none")
case("value is infinite", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,inf\n2,3\n"},
     "features.csv, line 3: column 'f' must be a finite number, got inf.", preprocess="none")
case("id twice", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,2\n2,3\n1,4\n2,5\n"},
     "features.csv, line 5: id must occur once, got '1' again (line 3 has it).")
case("header or row", {"edges.csv": EDGES, "features.csv": "paper,0.5\n0,1\n"},
     "features.csv, line 1: a header must be told from a row, got words and numbers: 'paper,0.5'. Say by "
     "header= whether there is one; name the id column by node_id=, by its position ('0') if there is no "
     "header.")
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
case("npy without columns, of any number of rows", {"edges.csv": EDGES, "features.npy": npy(np.zeros((2**40, 0)))},
     "features.npy: the array must have at least one column, got shape (1099511627776, 0).")
case("npy of text", {"edges.csv": EDGES, "features.npy": npy(np.array([["a"], ["b"], ["c"]]))},
     "features.npy: the array must hold real numbers, got dtype <U1. Encode words as numbers first.")
case("npy with NaN", {"edges.csv": EDGES, "features.npy": npy(np.array([[1, 2], [3, np.nan], [5, 6]]))},
     "features.npy: the array in row 1, column 1 (from 0) must have a value, got none. Fill such values with "
     "'zero' or 'mean' by missing_features=.", preprocess="none")
case("npy cut off", {"edges.csv": EDGES, "features.npy": npy(np.zeros((30, 2)))[:-9]},
     "features.npy must be a file that can be read, got: ...")
case("sparse with an index outside", {"edges.csv": EDGES, "features.npz": sparse(indices=[0, 7])},
     "features.npz: the matrix must be the parts of a CSR matrix that fit each other, got: ...")
case("sparse with a falling indptr", {"edges.csv": EDGES, "features.npz": sparse(indptr=[0, 3, 2])},
     "features.npz: the matrix must be the parts of a CSR matrix that fit each other, got: ...")
case("npz with a name of two lines", {"edges.csv": EDGES, "features.npz": npz(**{"in\ndi\x1b[1mces": [1]})},
     "features.npz: the archive must hold a sparse matrix (as scipy.sparse.save_npz writes it) or a matrix x, got "
     "in\\ndi\\x1b[1mces.")
case("sparse with pointers that only look empty", {"edges.csv": EDGES, "features.npz": sparse(indptr=[0, 2**40, 0])},
     "features.npz: the matrix must be the parts of a CSR matrix that fit each other, got: ...")
case("sparse in another format", {"edges.csv": EDGES, "features.npz": sparse(format=np.array(b"bsr"))},
     "features.npz: the matrix must be in the format csr, csc or coo with its parts, got 'bsr' with format, shape, data, "
     "indices, indptr.")
case("npz without a matrix", {"edges.csv": EDGES, "features.npz": npz(a=[1])},
     "features.npz: the archive must hold a sparse matrix (as scipy.sparse.save_npz writes it) or a matrix x, got a.")
case("Parquet lists of two lengths", {"edges.csv": EDGES, "features.parquet": parquet(id=[0, 1, 2], e=[[1.0], [1.0, 2.0], None])},
     "features.parquet, row 1 (from 0): column 'e' must hold lists of 1 numbers as the first row, got 2.")
case("Parquet of structures", {"edges.csv": EDGES, "features.parquet": parquet(id=[0], s=[{"a": 1}])},
     "features.parquet: column 's' must hold numbers or text, got type struct<a: int64>.", preprocess="none")

# ---- labels --------------------------------------------------------------------------------------------------
case("label of an unknown node",
     {"edges.csv": "a,b\nb,a\n", "features.csv": "id,f\na,1\nb,2\n", "labels.csv": "id,label\na,x\nc,y\n"},
     "labels.csv, line 3: node 'c' must be in features.csv, got no row for it. Add one, or choose 'zero' or "
     "'mean' by missing_features=.", preprocess="none")
case("label twice", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,x\n0,y\n"},
     "labels.csv, line 3: id must occur once, got '0' again (line 2 has it).")
case("label is a fraction", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,1\n1,0.37\n"},
     "labels.csv, line 3: label must be a class (a word or an integer), got '0.37'.")
case("label is -1", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,1\n1,-1\n"},
     "labels.csv, line 3: label must be a class, got '-1'. It is a class for some and the lack of a label for "
     "others. Leave the field empty for a node without a label, or say by unlabelled= which word means none (''"
     " if all of them are classes).")
case("label is NA", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,yes\n1,no\n2,NA\n"},
     "labels.csv, line 4: label must be a class, got 'NA'. It is a class for some and ...")
case("label is -1 among words", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,label\n0,yes\n1,no\n2,-1\n"},
     "labels.csv, line 4: label must be a class, got '-1'. It is a class for some and ...")
case("labels of another length", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "label\nx\ny\n"},
     "labels.csv: labels without ids must have a row for each of the 3 rows of features.csv, got 2.")
case("labels without ids", {"edges.csv": EDGES, "features.csv": "id,f\n0,1\n1,1\n2,1\n", "labels.csv": "label\nx\ny\nx\n"},
     "labels.csv: labels must have an id column, because features.csv has one, got 'label'. Name it by "
     "node_id=.")
case("labels twice", {"edges.csv": EDGES, "nodes.csv": "id,f,label\n0,1,x\n1,1,x\n2,1,y\n", "labels.csv": "id,label\n0,x\n"},
     "nodes.csv: labels must come from one place, got the column 'label' beside a labels file. Leave the column"
     " out by ignore=, or do without the file.")
case("labels of unknown columns", {"edges.csv": EDGES, "features.csv": X, "labels.csv": "id,p,q\n0,1,2\n"},
     "labels.csv: a labels table must have an id column and a label column, got 'id', 'p', 'q'. Name them by "
     "node_id= and label=.")


# fmt: on
@pytest.mark.parametrize("name", case)
def test_one_sentence_and_nothing_left_behind(name, tmp_path, monkeypatch):
    case.check(name, tmp_path, monkeypatch)
