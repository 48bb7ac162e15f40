"""Malformed node tables under the usual preparation: one sentence names the file, the line and the value."""

import pytest

from file_contents import EDGES, parquet
from malformed_cases import Cases

NUMBERS = "".join(f"{i},{i}\n" for i in range(3, 8))

# fmt: off
case = Cases()
case("a letter in a number", {"edges.csv": EDGES, "nodes.csv": f"id,age\n0,3\n1,4O\n2,5\n{NUMBERS}"},
     "nodes.csv, line 3: column 'age' must be a number, got '4O'. Most of the column is numbers: correct the value, leave the "
     "field empty, or leave the column out by ignore=.")
case("an infinite number", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,inf\n2,5\n"},
     "nodes.csv, line 3: column 'age' must be a finite number, got 'inf'.")
case("a number beyond floats", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,1e999\n2,5\n"},
     "nodes.csv, line 3: column 'age' must be a finite number, got '1e999'.")
case("two bad columns", {"edges.csv": EDGES, "nodes.csv": "id,age,size\n0,3,1\n1,x,2\n2,5,y\n3,1,1\n4,2,2\n"},
     "nodes.csv, line 3: column 'age' must be a number, got 'x'. Most of the column is numbers: correct the value, leave the "
     "field empty, or leave the column out by ignore=. nodes.csv, line 4: column 'size' must be a number, got 'y'. Most of ...")
case("structures", {"edges.csv": EDGES, "nodes.parquet": parquet(id=[0, 1, 2], s=[{"a": 1}] * 3)},
     "nodes.parquet: column 's' must hold numbers or text, got type struct<a: int64>. Leave the column out by ignore=.")
case("lists of two lengths", {"edges.csv": EDGES, "nodes.parquet": parquet(id=[0, 1, 2], e=[[1.0], [1.0, 2.0], None])},
     "nodes.parquet, row 1 (from 0): column 'e' must hold lists of 1 numbers as the first row, got 2.")
case("lists of words", {"edges.csv": EDGES, "nodes.parquet": parquet(id=[0, 1, 2], e=[["a"], ["b"], ["c"]])},
     "nodes.parquet: column 'e' must hold lists of numbers, got type list<...")
case("an infinite number in a list", {"edges.csv": EDGES, "nodes.parquet": parquet(id=[0, 1, 2], e=[[1.0], [2.0], [1e999]])},
     "nodes.parquet, row 2 (from 0): column 'e' must hold finite numbers, got an infinite one.")
case("bytes", {"edges.csv": EDGES, "nodes.parquet": parquet(id=[0, 1, 2], b=[b"a", b"b", b"c"])},
     "nodes.parquet: column 'b' must hold numbers or text, got type binary. Leave the column out by ignore=.")
case("other ids", {"edges.csv": EDGES, "nodes.csv": "id,age\na,3\nb,4\n"},
     "edges.csv, line 2: node '0' must be in nodes.csv, got no row for it. Only 2 of 5 nodes have a row there: are these the "
     "same ids, and is node_id= the right column?")
case("no such id column", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "nodes.csv: node_id must be one of its columns ('id', 'age'), got 'person'.", node_id="person")
case("no such label column", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "nodes.csv: label must be one of its columns ('id', 'age'), got 'kind'.", label="kind")
case("no such split column", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "nodes.csv: split_column must be one of its columns ('id', 'age'), got 'part'.", split_column="part")
case("no such time column", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "nodes.csv: time_column must be one of its columns ('id', 'age'), got 'when'.", time_column="when")
case("no such group column", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "nodes.csv: group_column must be one of its columns ('id', 'age'), got 'team'.", group_column="team")
case("no such column to leave out", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "nodes.csv: ignore must be one of its columns ('id', 'age'), got 'x'.", ignore=["x"])
case("an unknown part", {"edges.csv": EDGES, "nodes.csv": "id,age,cut\n0,3,train\n1,4,holdout\n2,5,test\n"},
     "nodes.csv, line 3: split (column 'cut') must be train, val or test (empty: none of them), got 'holdout'.",
     split_column="cut")
case("parts that are labels", {"edges.csv": EDGES, "nodes.csv": "id,age,label\n0,3,train\n1,4,test\n2,5,test\n"},
     "nodes.csv: labels and parts must be two columns, got 'label' for both.", split_column="label")
case("an unknown time", {"edges.csv": EDGES, "nodes.csv": "id,age,when\n0,3,2020-01-01\n1,4,soon\n2,5,2021-01-01\n"},
     "nodes.csv, line 3: time (column 'when') must be a number, a date or a time, got 'soon'.", time_column="when")
case("an id twice", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n0,4\n2,5\n"},
     "nodes.csv, line 3: id must occur once, got '0' again (line 2 has it).")
case("an id missing", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n,4\n2,5\n"},
     "nodes.csv, line 3: id must be an id, got ''.")
case("a short line", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1\n2,5\n"},
     "nodes.csv, line 3: a line must have 2 columns as the first one, got 1: '1'.")
case("a long line", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,2,3\n2,5\n"},
     "nodes.csv, line 3: a line must have 2 columns as the first one, got 3: '1,2,3'.")
case("an empty file", {"edges.csv": EDGES, "nodes.csv": ""},
     "nodes.csv: the file must hold at least one line, got an empty one.")
case("not UTF-8", {"edges.csv": EDGES, "nodes.csv": b"id,city\n0,Z\xfcrich\n1,Bern\n2,Genf\n"},
     "nodes.csv, line 2: text must be UTF-8, got ...")
case("an id column twice", {"edges.csv": EDGES, "nodes.csv": "id,age,age\n0,3,1\n1,4,2\n2,5,3\n"},
     "nodes.csv: node_id must name one column, but 'age' occurs more than once in the header.", node_id="age")
case("id and label in one", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "nodes.csv: node_id and label must be two columns, got 'id' for both.", label="id", node_id="id")
case("a label that is a fraction", {"edges.csv": EDGES, "nodes.csv": "id,age,label\n0,3,0.5\n1,4,1\n2,5,1\n"},
     "nodes.csv, line 2: label must be a class (a word or an integer), got '0.5'.")
case("columns, labels and edges, all at once",
     {"edges.csv": "source,target,weight\n0,1,-2\n1,2,1\n", "nodes.csv": "id,age,label\n0,inf,0.5\n0,4,1\n2,5,1\n"},
     "nodes.csv, line 3: id must occur once, got '0' again (line 2 has it). nodes.csv, line 2: column 'age' must be a finite "
     "number, got 'inf'. nodes.csv, line 2: label must be a class (a word or an integer), got '0.5'. edges.csv, line 2: "
     "weight must be a finite number >= 0, got '-2'.")
case("raw ways beside a preparation", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "ReadOptions: missing_features must come with raw features, got 'mean'. Else gaps are filled and words are encoded ...",
     missing_features="mean")
case("an unknown preparation", {"edges.csv": EDGES, "nodes.csv": "id,age\n0,3\n1,4\n2,5\n"},
     "ReadOptions: preprocess must be one of 'auto', 'none', 'standard', 'quantile', got 'standart'. Did you mean 'standard'?",
     preprocess="standart")
# fmt: on


@pytest.mark.parametrize("name", case)
def test_one_sentence_and_nothing_left_behind(name, tmp_path, monkeypatch):
    case.check(name, tmp_path, monkeypatch)


def test_there_are_thirty():
    assert len(case) >= 30
