"""Stratified splits, folds, splits by time and by group: what each promises, for any labels."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold
from torch_geometric.data import Data

from chebnet2d import InputError
from chebnet2d.data import split, usual_split
from cli_runner import run
from small_commands import QUICK, small_graph

LABELS = st.lists(st.integers(-1, 3), min_size=12, max_size=80).filter(lambda y: max(y, default=-1) >= 0)


def graph(y, **attributes):
    return Data(y=torch.tensor(y), num_nodes=len(y), node_ids=np.arange(len(y)), **attributes)


def check_parts(found, y):
    parts = [part.tolist() for part in found.parts.values()]
    together = [node for part in parts for node in part]
    assert len(together) == len(set(together))
    assert all(y[node] >= 0 for node in together)
    return parts


@given(y=LABELS, seed=st.integers(0, 5))
@settings(max_examples=80, deadline=None)
def test_stratified_cuts_every_class_by_the_shares(y, seed):
    found = split(y, "stratified", seed=seed)
    parts = check_parts(found, y)
    assert sum(map(len, parts)) == sum(label >= 0 for label in y)
    for c in {label for label in y if label >= 0}:
        counts = [sum(y[node] == c for node in part) for part in parts]
        size = sum(counts)
        if size < 3:
            assert counts == [size, 0, 0]
        else:
            assert min(counts) >= 1
            assert all(abs(count - share * size) <= 1.5 for count, share in zip(counts, (0.6, 0.2, 0.2), strict=True))
    assert found.digest == split(y, "stratified", seed=seed).digest


@given(y=LABELS.filter(lambda y: min(y.count(c) for c in set(y) - {-1}) >= 4), seed=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_every_node_is_tested_once_in_the_folds(y, seed):
    folds = [split(y, "k-fold", seed=4 * seed + k, folds=4) for k in range(4)]
    tested = [node for fold in folds for node in fold.test.tolist()]
    assert sorted(tested) == [node for node, label in enumerate(y) if label >= 0]
    sizes = [fold.test.numel() for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for fold in folds:
        train, val, _ = check_parts(fold, y)
        assert {y[node] for node in train} == {y[node] for node in val} == set(y) - {-1}
    labels = np.array([label for label in y if label >= 0])
    theirs = [np.bincount(labels[test], minlength=4) for _, test in StratifiedKFold(4).split(labels, labels)]
    for fold in folds:
        counts = np.bincount(np.array(y)[fold.test.numpy()], minlength=4)
        assert (np.abs(counts - np.mean(theirs, axis=0)) < 1).all(), "as even as scikit-learn's"


def test_folds_need_nodes_of_every_class():
    with pytest.raises(
        InputError, match="every class must have at least 5 labelled nodes, one for each fold, got 2 of class 'b'"
    ):
        split(graph([0] * 9 + [1] * 2, class_names=["a", "b"]), "k-fold")


@given(times=st.lists(st.integers(0, 20), min_size=6, max_size=60).filter(lambda t: len(set(t)) >= 3), gaps=st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_time_goes_from_train_to_test(times, gaps):
    when = [float("nan") if k < gaps and len(set(times[gaps:])) >= 3 else float(t) for k, t in enumerate(times)]
    data = graph([k % 2 for k in range(len(times))], time=torch.tensor(when, dtype=torch.float64))
    found = split(data, "time")
    train, val, test = ([when[node] for node in part] for part in check_parts(found, data.y.tolist()))
    assert max(train) < min(val) <= max(val) < min(test)
    assert len(train) + len(val) + len(test) == sum(t == t for t in when)


@given(groups=st.lists(st.integers(-1, 9), min_size=9, max_size=60), seed=st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_no_group_is_in_two_parts(groups, seed):
    data = graph([k % 2 for k in range(len(groups))], group=torch.tensor(groups))
    if len(set(groups) - {-1}) < 3:
        with pytest.raises(InputError, match="labelled nodes must have at least three groups"):
            split(data, "group", seed=seed)
        return
    parts = [{groups[node] for node in part} for part in check_parts(split(data, "group", seed=seed), data.y.tolist())]
    assert all(parts)
    assert sorted(name for part in parts for name in part) == sorted(set(groups) - {-1})


def test_a_column_that_is_not_there_is_asked_for():
    for kind in ("time", "group"):
        with pytest.raises(InputError, match=f"Name the column of your node table by {kind}_column="):
            split(graph([0, 1, 0]), kind)


def test_the_usual_kind():
    assert usual_split(Data(y=torch.tensor([0, 1]))) == "uniform"
    assert usual_split(graph([0, 1])) == "stratified"
    assert usual_split(graph([0, 1], train_mask=torch.tensor([True, False]))) == "fixed"


def test_train_takes_time_group_and_split_columns(tmp_path):
    folder = small_graph(tmp_path / "g")
    lines = (folder / "nodes.csv").read_text().splitlines()
    dates = [
        f"{line},20{10 + k % 12}-01-0{1 + k % 9},team {k % 7},{('train', 'val', 'test')[k % 3]}"
        for k, line in enumerate(lines[1:])
    ]
    (folder / "nodes.csv").write_text("\n".join([f"{lines[0]},born,team,split", *dates, ""]))
    assert "split: fixed, seed 0, 14/13/13 nodes" in run("train", folder, *QUICK).stdout
    done = run("train", folder, *QUICK, "--split", "time", "--time-column", "born")
    assert "split: time" in done.stdout
    done = run("train", folder, *QUICK, "--split", "group", "--group-column", "team", "--save", tmp_path / "m")
    assert "split: group" in done.stdout
    assert "split: k-fold, seed 3" in run("train", folder, *QUICK, "--split", "k-fold", "--seed", 3).stdout
    done = run("train", folder, *QUICK, "--split", "time", code=2)
    assert "Name the column of your node table by --time-column." in done.stderr
    (folder / "nodes.csv").write_text("\n".join([lines[0], *lines[1:], ""]))
    assert "40 predictions" in run("predict", tmp_path / "m", folder, "--out", tmp_path / "p.csv").stdout, "parts may be absent"
