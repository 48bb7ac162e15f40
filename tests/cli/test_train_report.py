"""What ``train`` says of each class, and what a threshold does to the labels of ``predict``."""

import csv
import json
import random

import pytest

import chebnet2d
from cli_runner import run

QUICK = ("--epochs", 60, "--degree", 2, "--hidden", 8)


@pytest.fixture(scope="module")
def fraud(tmp_path_factory):
    """800 nodes, 6 % of one class."""
    folder = tmp_path_factory.mktemp("report") / "fraud"
    folder.mkdir()
    rng = random.Random(0)
    bad = [k % 16 == 0 for k in range(800)]
    rows = [f"{k},{rng.gauss(1.5 * bad[k], 1):.3f},{'fraud' if bad[k] else 'fine'}" for k in range(800)]
    (folder / "nodes.csv").write_text("\n".join(["id,amount,label", *rows, ""]))
    edges = [f"{rng.randrange(800)},{rng.randrange(800)}" for _ in range(1600)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges, ""]))
    return folder


def test_every_training_ends_with_the_classes(fraud):
    done = run("train", fraud, *QUICK)
    for words in (
        "note: few labels are of class 'fraud' 6.2 % (50 of 800)",
        "--metric f1_macro --class-weight balanced",
        "the largest class alone would be right for 93.75 % of the test nodes",
        "precision",
        "is, predicted as:",
        "probabilities: expected calibration error ",
        ", from validation nodes); label sets for coverage 0.9 held ",
    ):
        assert words in done.stdout
    record = json.loads(run("train", fraud, *QUICK, "--json").stdout)
    report = record["report"]
    assert report["majority"] == 0.9375
    assert [row["support"] for row in report["classes"]] == [150, 10]
    assert sum(map(sum, report["confusion"])) == 160
    assert record["threshold"] is None, "of accuracy there is none"
    assert report["scores"]["accuracy"] == pytest.approx(record["test"]["accuracy"])


def test_a_threshold_is_saved_and_used(fraud, tmp_path):
    flags = (*QUICK, "--metric", "f1", "--class-weight", "balanced", "--save", tmp_path / "m")
    record = json.loads(run("train", fraud, *flags, "--json").stdout)
    assert record["metric"] == "f1"
    threshold = record["threshold"]
    assert threshold is not None
    assert threshold != 0.5
    assert chebnet2d.load(tmp_path / "m").threshold == threshold
    assert chebnet2d.load(tmp_path / "m").temperature == record["temperature"]
    assert record["report"]["calibration"]["brier_score"] < 0.25
    run("predict", tmp_path / "m", fraud, "--out", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        rows = list(csv.DictReader(file))
    labels = {True: "fraud", False: "fine"}
    assert all(row["label"] == labels[float(row["probability_fraud"]) >= threshold] for row in rows)
    tested = [row for row in rows if row["part"] == "test"]
    right = sum(row["label"] == row["given_label"] == "fraud" for row in tested)
    counted = sum((row["label"] == "fraud") + (row["given_label"] == "fraud") for row in tested)
    assert record["report"]["scores"]["f1"] == pytest.approx(2 * right / counted)


def test_wrong_metrics_are_told(fraud):
    done = run("train", "digits", "--metric", "roc_auc", code=2)
    assert "train: --metric must be defined for 10 classes, got 'roc_auc'." in done.stderr
    done = run("train", fraud, "--class-weight", "heavy", code=2)
    assert "--class-weight must be one of 'none', 'balanced', got 'heavy'" in done.stderr


def test_a_class_that_is_too_small_is_told_with_its_counts(fraud, tmp_path):
    lines = (fraud / "nodes.csv").read_text().splitlines()
    lines[2] = lines[2].replace("fine", "odd")
    folder = tmp_path / "g"
    folder.mkdir()
    (folder / "nodes.csv").write_text("\n".join([*lines, ""]))
    (folder / "edges.csv").write_text((fraud / "edges.csv").read_text())
    assert "note: class 'odd' has 1 labelled nodes (1/0/0 in train/val/test)" in run("train", folder, *QUICK).stdout
