"""Rows of exports and other studies are checked before they count; every refusal is a sentence."""

import json

import pytest

import chebnet2d
from chebnet2d.study import DatasetCache, Store, export_rows, make_plan, read_rows, run_study
from chebnet2d.study.layout import SINCE_4, checked_row, stored
from finished_study import protocol_of


@pytest.fixture(scope="module")
def rows(finished, tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "rows.json"
    export_rows(finished, path)
    return json.loads(path.read_text(), parse_constant=pytest.fail)


def written(rows, tmp_path, *, sign=False):
    """A file with these rows, without checksums or, as somebody who wants to deceive would, with new ones."""
    plain = [{name: value for name, value in row.items() if name != "checksum"} for row in rows]
    if sign:
        plain = [{**row, "checksum": stored(checked_row(row, "row"))[-1]} for row in plain]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(plain))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": {"accuracy": 5.0}}, r"accuracy in test of row 3 of '.*rows.json' must be a number in \[0, 1\], got 5.0"),
        ({"test": {"accuracy": "0.5"}}, "accuracy in test of row 3 .* must be a finite number"),
        ({"test": {"own": float("inf")}}, "Infinity is no number of JSON"),
        ({"val_loss": float("nan")}, "NaN is no number of JSON"),
        ({"test": [0.5]}, "test of row 3 .* must be a table of names and values"),
        ({"val_metric": -0.5}, r"val_metric of row 3 .* must be a number in \[0, 1\]"),
        ({"val_loss": 10**400}, "must have numbers that fit into 64 bits"),
        ({"seconds": -1}, "seconds of row 3 .* must be a number in"),
        ({"seed": 1.5}, "seed of row 3 .* must be an integer from 0"),
        ({"seed": True}, "seed of row 3 .* must be an integer from 0"),
        ({"epochs": 10**30}, "epochs of row 3 .* must be an integer from 0"),
        ({"best_epoch": 99}, "best_epoch of row 3 .* must be an integer from 0 to 2, got 99"),
        ({"train_nodes": 0}, "train_nodes of row 3 .* must be an integer from 1"),
        ({"test_nodes": 0}, "test of row 3 .* must be None where there are no test nodes"),
        ({"method": "\x1b[31mred"}, "method of row 3 .* must be a text"),
        ({"method": "\ud800"}, "method of row 3 .* must be a text"),
        ({"run_id": None}, "run_id of row 3 .* must be a text, got None"),
        ({"config": {}}, "config of row 3 .* must name the origin of its settings, got None"),
        ({"luck": 1}, "the rows of '.*rows.json' must have the same columns"),
    ],
)
def test_what_no_run_can_have_is_refused(changes, message, rows, tmp_path):
    path = written([*rows[:2], {**rows[2], **changes}, *rows[3:]], tmp_path)
    with pytest.raises(chebnet2d.InputError, match=message):
        read_rows(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [*rows, rows[0]], "'.*rows.json' must have every run once, got run '.*' twice"),
        (lambda rows: [{**row, "luck": 1} for row in rows], "row 1 of .* must have the columns of a run, got 'luck' besides"),
        (lambda rows: [{n: row[n] for n in row if n != "seed"} for row in rows], "row 1 .* got none of the name 'seed'"),
        (lambda rows: {"rows": rows}, "it is no list of rows"),
        (lambda rows: ["run"], "it is no list of rows"),
    ],
)
def test_what_no_export_can_have_is_refused(change, message, rows, tmp_path):
    plain = [{name: value for name, value in row.items() if name != "checksum"} for row in rows]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(change(plain)))
    with pytest.raises(chebnet2d.InputError, match=message):
        read_rows(path)


def test_a_score_of_an_old_export_that_is_none_is_refused(rows, tmp_path):
    old = [{**row, "test_metric": 5.0, "test_accuracy": row["test"]["accuracy"], "test_roc_auc": None} for row in rows]
    old = [{name: value for name, value in row.items() if name not in ("test", "checksum", *SINCE_4)} for row in old]
    (tmp_path / "old.json").write_text(json.dumps(old))
    with pytest.raises(chebnet2d.InputError, match="test_metric of row 1 of .* must be the test score of its metric, got 5.0"):
        read_rows(tmp_path / "old.json")


@pytest.mark.parametrize("depth", [100_000])
def test_depth_without_end_is_refused(depth, tmp_path):
    (tmp_path / "deep.json").write_text("[" * depth)
    with pytest.raises(chebnet2d.InputError, match="it is nested too deeply"):
        read_rows(tmp_path / "deep.json")


@pytest.mark.parametrize("sign", [False, True])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 77}, r"the seeds of run '.*' in '.*rows.json' must be those of its unit, got \(1, 77\)"),
        ({"run_id": "0" * 16}, "run_id of run '0000000000000000' in .* must be '.*', as in its unit"),
        ({"method": "gcn"}, "method of run '.*' in .* must be 'chebnet2d', as in its unit, got 'gcn'"),
        ({"dataset": "digits"}, "dataset of run '.*' in .* must be 'csbm', as in its unit"),
        ({"split": "balanced"}, "split of run '.*' in .* must be 'uniform', as in its unit"),
        ({"dataset_digest": "0" * 16}, "dataset_digest of run '.*' in .* must be '.*', as in its unit"),
    ],
)
def test_rows_that_are_not_those_of_their_unit_are_not_reused(changes, message, sign, rows, finished, tmp_path):
    path = written([*rows[:2], {**rows[2], **changes}, *rows[3:]], tmp_path, sign=sign)
    with pytest.raises(chebnet2d.InputError, match=message):
        run_study(protocol_of(finished), tmp_path / "new.sqlite", reuse=[path])
    if (tmp_path / "new.sqlite").exists():
        with Store(tmp_path / "new.sqlite", create=False) as store:
            assert store.rows() == []


def test_what_is_right_is_reused(rows, finished, tmp_path):
    for sign in (False, True):
        store = tmp_path / f"new-{sign}.sqlite"
        run_study(protocol_of(finished), store, reuse=[written(rows, tmp_path, sign=sign)], progress=pytest.fail)
        assert read_rows(store) == read_rows(finished)


def test_rows_of_a_run_without_test_nodes_have_none(rows):
    row = checked_row({**rows[0], "test": {}, "test_nodes": 0}, "row")
    assert row["test"] == {"accuracy": None}


def test_nothing_that_is_no_number_is_stored(finished, rows, tmp_path):
    protocol = protocol_of(finished)
    units = list(make_plan(protocol, DatasetCache()))
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(protocol, units)
        with pytest.raises(chebnet2d.InputError, match="val_loss of a run of chebnet2d on csbm must be a finite number"):
            store.commit(units[0], [{**rows[0], "val_loss": float("nan")}])
        assert store.rows() == []


def test_an_export_of_one_dataset(finished, tmp_path):
    every = read_rows(finished)
    name = every[-1]["dataset"]
    export_rows(finished, tmp_path / "one.parquet", datasets=[name])
    assert read_rows(tmp_path / "one.parquet") == [row for row in every if row["dataset"] == name]
    with pytest.raises(chebnet2d.InputError, match="datasets must be .*got 'texaz'"):
        export_rows(finished, tmp_path / "none.parquet", datasets=["texaz"])
    assert not (tmp_path / "none.parquet").exists()
