"""``train --bases``: the same graphs, splits, metrics and model folders as without, by bases on disk."""

import json
import random

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

import chebnet2d
from chebnet2d.bases import Bases, precompute
from chebnet2d.recipes import ways
from cli_runner import run

QUICK = ("--epochs", 8, "--hidden", 8, "--degree", 2)
NODES = 400


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """Two classes, one of them small; ids that are words; every fourth node without a label."""
    folder = tmp_path_factory.mktemp("own") / "shop"
    folder.mkdir()
    rng = random.Random(0)
    bad = [k % 8 == 0 for k in range(NODES)]
    label = ["" if k % 4 == 3 else "fraud" if bad[k] else "fine" for k in range(NODES)]
    rows = [f"n{k},{rng.gauss(2 * bad[k], 1):.3f},{rng.choice('abc')},{label[k]}" for k in range(NODES)]
    (folder / "nodes.csv").write_text("\n".join(["id,amount,kind,label", *rows, ""]))
    edges = [f"n{rng.randrange(NODES)},n{rng.randrange(NODES)}" for _ in range(900)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges, ""]))
    return folder


@pytest.fixture(scope="module")
def trained(graph, tmp_path_factory):
    """(folder of the model, its record), by bases in the model's own folder, since an epoch counts as long."""
    model = tmp_path_factory.mktemp("model") / "m"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chebnet2d.recipes.on_disk.LONG", 0.0)
        flags = ("--metric", "f1", "--class-weight", "balanced", "--transform", "standardize", "--epochs", 40)
        record = json.loads(run("train", graph, *QUICK, *flags, "--save", model, "--json").stdout)
    return model, record


def test_the_record_is_that_of_any_training(graph, trained):
    model, record = trained
    assert (record["reading"], record["bases"]) == ("filter-first", str(model / "bases"))
    assert (record["metric"], record["transform"], record["split"]["name"]) == ("f1", "standardize", "stratified")
    assert record["class_names"] == ["fine", "fraud"]
    assert [row["support"] for row in record["report"]["classes"]] == [50, 10]
    assert record["report"]["scores"]["f1"] > 0.5, "two deviations apart"
    whole = json.loads(run("train", graph, *QUICK, "--bases", "never", "--json").stdout)
    assert whole["split"]["digest"] == record["split"]["digest"]
    assert "bases" not in whole


def test_predictions_have_ids_names_parts_and_the_threshold(graph, trained, tmp_path):
    model, record = trained
    run("predict", model, graph, "--out", tmp_path / "p.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "p.parquet").to_pylist()
    assert [row["node"] for row in table] == sorted(f"n{k}" for k in range(NODES))
    test = [row for row in table if row["part"] == "test"]
    hits = sum(row["label"] == row["given_label"] for row in test)
    assert hits / len(test) == pytest.approx(record["report"]["scores"]["accuracy"])
    threshold = 0.5 if record["threshold"] is None else record["threshold"]
    assert all((row["label"] == "fraud") == (row["probability_fraud"] >= threshold) for row in table)
    assert not list(tmp_path.glob(".p.parquet*")), "its bases are gone"


def test_bases_beside_the_model_and_new_ones_give_the_same(graph, trained, tmp_path):
    """On the graph itself, in memory, too."""
    model, _ = trained
    before = (model / "bases" / "manifest.json").stat().st_mtime_ns
    run("predict", model, graph, "--out", tmp_path / "a.parquet")
    assert (model / "bases" / "manifest.json").stat().st_mtime_ns == before
    (model / "bases").rename(tmp_path / "away")
    try:
        run("predict", model, graph, "--out", tmp_path / "b.csv")
    finally:
        (tmp_path / "away").rename(model / "bases")
    a, b = pyarrow.parquet.read_table(tmp_path / "a.parquet"), pyarrow.csv.read_csv(tmp_path / "b.csv")
    c = chebnet2d.predict(model, graph)
    assert a.column_names == b.column_names == c.column_names
    assert a["node"].to_pylist() == b["node"].to_pylist() == c["node"].to_pylist()
    for other in (b, c):
        np.testing.assert_allclose(a["probability_fraud"].to_numpy(), other["probability_fraud"].to_numpy(), atol=1e-5)


def test_a_graph_with_other_nodes(graph, trained, tmp_path):
    """The bases beside the model are of another graph: they are left as they are."""
    model, _ = trained
    changed = tmp_path / "shop"
    changed.mkdir()
    for name, line in (("nodes.csv", "new,1.5,a,\n"), ("edges.csv", "new,n0\n")):
        (changed / name).write_text((graph / name).read_text() + line)
    done = run("predict", model, changed, "--out", tmp_path / "p.csv")
    assert f"nodes: 1 of {NODES + 1} are new, 0 of the training graph are gone" in done.stdout
    assert Bases.open(model / "bases").num_nodes == NODES


def test_bases_beside_the_model_are_extended(tmp_path):
    """Only rows near a change are computed, which is said; predictions are those of bases that are computed anew."""
    chain = tmp_path / "chain"
    chain.mkdir()
    rng = random.Random(1)
    rows = [f"n{k:04},{rng.gauss(0, 1):.3f},{'ab'[k % 2]}" for k in range(300)]
    (chain / "nodes.csv").write_text("\n".join(["id,amount,label", *rows, ""]))
    (chain / "edges.csv").write_text("\n".join(["source,target", *(f"n{k:04},n{k + 1:04}" for k in range(299)), ""]))
    model = tmp_path / "m"
    run("train", chain, *QUICK, "--transform", "standardize", "--bases", model / "bases", "--save", model)
    assert (
        "bases: those of the model, which are of this graph" in run("predict", model, chain, "--out", tmp_path / "0.csv").stdout
    )
    for name, line in (("nodes.csv", "n0100b,1.5,\n"), ("edges.csv", "n0100b,n0100\n")):
        with (chain / name).open("a") as file:
            file.write(line)
    said = run("predict", model, chain, "--out", tmp_path / "a.csv").stdout
    assert "bases: extended. 4 of 301 nodes are new or have other edges or features, 0 are gone; 6 rows computed" in said
    said = json.loads(run("predict", model, chain, "--out", tmp_path / "b.csv", "--json").stdout)
    assert said["bases"].startswith("bases: extended. 4 of 301")
    (model / "bases" / "marks.npy").unlink()
    said = run("predict", model, chain, "--out", tmp_path / "c.csv").stdout
    assert "bases: all computed anew, since the stored ones do not say which nodes they are of" in said
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text() == (tmp_path / "c.csv").read_text()
    (model / "bases").rename(tmp_path / "away")
    assert "since there are none beside the model" in run("predict", model, chain, "--out", tmp_path / "d.csv").stdout
    (tmp_path / "away").rename(model / "bases")
    other = chebnet2d.data.load("csbm", nodes=50, features=3, degree=4)
    precompute(other, out=tmp_path / ".e.csv.bases", degree=2)  # what a killed predict of another graph has left
    assert "bases: all computed anew" in run("predict", model, chain, "--out", tmp_path / "e.csv").stdout
    assert (tmp_path / "e.csv").read_text() == (tmp_path / "a.csv").read_text()
    assert not list(tmp_path.glob(".*.bases"))


def test_an_answer_is_explained(graph, trained, tmp_path):
    model, _ = trained
    done = run("explain", model, graph, "--node", "n7", "--out", tmp_path / "e.json")
    assert "gradient times input" in done.stdout
    (found,) = json.loads((tmp_path / "e.json").read_text())["explanations"]
    table = {row["node"]: row for row in chebnet2d.predict(model, graph).to_pylist()}["n7"]
    assert found["predicted"] == max(("fine", "fraud"), key=lambda name: table[f"probability_{name}"])


def test_killed_before_the_end_it_goes_on(graph, trained, tmp_path, monkeypatch):
    """The bases are whole, the model is not there: the same command computes no product again."""
    model, record = trained
    again = tmp_path / "m"
    again.mkdir()
    (model / "bases").rename(again / "bases")
    try:
        monkeypatch.setattr("chebnet2d.recipes.on_disk.LONG", 0.0)
        monkeypatch.setattr("chebnet2d.bases.columns.block_terms", None)
        flags = ("--metric", "f1", "--class-weight", "balanced", "--transform", "standardize", "--epochs", 40)
        found = json.loads(run("train", graph, *QUICK, *flags, "--save", again, "--json").stdout)
    finally:
        (again / "bases").rename(model / "bases")
    assert found["val_loss"] == record["val_loss"]


def test_edges_that_stay_on_disk(graph, trained, tmp_path, monkeypatch):
    """Where the estimate says that they fit no memory: the same bases, model and predictions, without a word about it but one."""
    model, record = trained
    monkeypatch.setattr("chebnet2d.data.own_graph.estimate._EDGE", 10**12)
    flags = ("--metric", "f1", "--class-weight", "balanced", "--transform", "standardize", "--epochs", 40, "--memory", "64GiB")
    found = json.loads(run("train", graph, *QUICK, *flags, "--save", tmp_path / "m", "--json").stdout)
    assert found["val_loss"] == record["val_loss"]
    for folder, limit in ((model, ()), (tmp_path / "m", ("--memory", "64GiB"))):
        run("predict", folder, graph, "--out", tmp_path / f"{folder.name}-{len(limit)}.csv", *limit)
    assert (tmp_path / "m-0.csv").read_text() == (tmp_path / "m-2.csv").read_text()
    said = run("train", graph, *QUICK, "--memory", "64GiB").stdout
    assert "edges are read in chunks and stay on disk" in said
    said = run("train", graph, *QUICK[:4], "--method", "gcn", "--memory", "64GiB", code=2).stderr
    assert "for gcn, which takes the whole graph at once" in said
    said = run("train", graph, *QUICK, "--bases", "never", "--memory", "64GiB", code=2).stderr
    assert "--memory must be about" in said


def test_labels_may_change_between_two_trainings(graph, tmp_path):
    """The bases are of the graph and its features; labels are those of the files that are read."""
    bases = tmp_path / "bases"
    run("train", graph, *QUICK, "--bases", bases)
    changed = tmp_path / "shop"
    changed.mkdir()
    (changed / "edges.csv").write_text((graph / "edges.csv").read_text())
    text = (graph / "nodes.csv").read_text()
    (changed / "nodes.csv").write_text(text.replace(",fraud", ",x").replace(",fine", ",fraud").replace(",x", ",fine"))
    record = json.loads(run("train", changed, *QUICK, "--bases", bases, "--json").stdout)
    assert [row["support"] for row in record["report"]["classes"]] == [10, 50]


def test_which_way_is_taken_and_said(graph, tmp_path, monkeypatch):
    assert "on disk" not in run("train", graph, *QUICK).stdout, "a small graph is taken whole"
    said = run("train", graph, *QUICK, "--bases", tmp_path / "b").stdout
    assert "chebnet2d, filter-first, batches of 10000 rows" in said
    assert f"in {tmp_path / 'b'}" in said
    said = run("train", graph, *QUICK[:4], "--method", "gcn", "--bases", tmp_path / "c", code=2).stderr
    assert "the method 'gcn' must be a polynomial of L_hat, P or P~" in said
    monkeypatch.setattr("chebnet2d.recipes.on_disk.LONG", 0.0)
    said = run("train", graph, *QUICK, "--batch-size", 100).stdout
    assert "batches of up to 100 nodes" in said
    assert "on disk" not in said, "batches of nodes are asked for"
    said = run("train", graph, *QUICK[:4], "--method", "gcn").stdout
    assert "the whole graph at once takes about" in said
    monkeypatch.setattr(ways, "_LIBRARIES", 2**50)
    said = run("train", graph, *QUICK).stdout
    assert "more than the" in said
    assert "that are left: bases on disk are taken instead" in said
    said = run("train", graph, *QUICK, "--bases", "never", "--memory", "64GiB", code=2).stderr
    assert "--memory must be at least" in said
    assert "for the whole graph at once, got 64 GiB. Bases on disk take less." in said
    said = run("train", graph, *QUICK, "--memory", "1MiB", code=2).stderr
    assert "--memory must be about" in said
