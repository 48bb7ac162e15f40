"""``auto`` on a graph that is too large for its methods at once: those that are polynomials of the graph take bases on disk."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest

import chebnet2d
from chebnet2d.auto import NodePredictor, by_bases, training
from chebnet2d.auto.candidate import Candidate
from chebnet2d.auto.problem import Problem
from chebnet2d.cluster import ProcessExecutor
from chebnet2d.models import OnGraph
from chebnet2d.recipes import Recipe, ways, whole_graph_note
from chebnet2d.search import search
from chebnet2d.study.dataset_cache import DatasetCache
from chebnet2d.study.plan import make_plan
from small_auto import graph
from small_study import PRESET, small

METHODS = ["gcn", "logistic:features", "gprgnn", "chebnetii"]


@pytest.fixture
def large(monkeypatch):
    """No graph fits."""
    monkeypatch.setattr(ways, "_LIBRARIES", 2**50)
    monkeypatch.setattr(ways, "STEPS", 30)


def predictor(**options):
    return NodePredictor(**{"methods": METHODS, "folds": 2, "seed": 1, **options})


def test_what_cannot_take_bases_is_left_out_with_a_sentence(large, tmp_path):
    data, work = graph(signal=2.0), tmp_path / "work"
    # Two processes would each hold the graph, and take bases from each other: all is done here.
    fitted = predictor().fit(data, 3, work=work, executor=ProcessExecutor(2))
    rows = {row["method"]: row for row in fitted.leaderboard()}
    assert [name for name, row in rows.items() if row["on_bases"]] == sorted(["gprgnn", "chebnetii"], key=list(rows).index)
    assert rows["gcn"]["status"].startswith("left out: the whole graph at once takes about")
    assert rows["logistic:features"]["status"] == "finished", "it is fitted, not trained by steps"
    assert min(rows[name]["score"] for name in ("gprgnn", "chebnetii")) > 0.5
    assert data.edge_index is not None, "the graph of the caller is as it was"
    bases = sorted(path.name for path in next(work.iterdir()).joinpath("bases").iterdir())
    assert len(bases) == 2, "one for each operator"
    saved = chebnet2d.load(fitted.save(tmp_path / "predictor"))
    assert any(isinstance(model, OnGraph) for member in saved.models for model in member)
    np.testing.assert_allclose(saved.predict(data).probabilities.numpy(), fitted.predict_proba(data), atol=1e-6)
    page = chebnet2d.report(saved, data, out=tmp_path / "report.html", mistakes=1).read_text()
    assert "gprgnn, 2 runs" in page or "chebnetii, 2 runs" in page
    test = chebnet2d.data.split(data, "uniform", 1).test
    assert fitted.facts["test"]["scores"]["accuracy"] == pytest.approx(
        float(np.mean(fitted.predict(data)[test.numpy()].astype(int) == data.y[test].numpy()))
    ), "what was reported is what the saved models answer, which compute on the graph"
    fitted.forget_work()
    assert not work.exists()


def test_few_bases_are_on_the_disk_at_a_time(tmp_path):
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        os.utime(tmp_path / str(number), (number, number))
    by_bases._make_room(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3", "4"]


def test_elsewhere_nothing_has_bases_and_the_clock_is_kept(large, tmp_path):
    """Other processes may be on other machines: there such a graph is left out."""
    problem = Problem.of(graph(), None, None, None, 2, 0)
    candidate = Candidate("gprgnn", 0, 0, Recipe("gprgnn"))
    status = training.train(problem, candidate, math.inf, math.inf)
    assert (status.word, status.need) == ("left out", None)
    here = replace(problem, bases=tmp_path)
    slow = training.train(here, candidate, 1e-9, math.inf)
    assert (slow.word, slow.need > 1e-9) == ("not finished", True)
    assert training.train(here, candidate, math.inf, 0.0).reason == "cut off after 0 s"


def test_a_search_and_a_study_say_that_they_train_on_the_whole_graph(large, tmp_path):
    note = whole_graph_note(Recipe("gprgnn"), graph())
    assert note.startswith("gprgnn on csbm")
    assert "the whole graph at once takes about" in note
    assert note.endswith("'auto' take bases on disk for such graphs.")
    assert whole_graph_note(Recipe("majority"), graph()) is None
    said = []
    search(graph(), "gprgnn", budget=1, splits=1, epochs=1, baseline=False, notice=said.append)
    assert len(said) == 1
    (tmp_path / "preset.toml").write_text(PRESET)
    list(make_plan(small(str(tmp_path / "preset.toml"), datasets=("csbm",)), DatasetCache(), said.append))
    assert len(said) == 2
