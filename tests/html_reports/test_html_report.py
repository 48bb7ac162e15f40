"""What stands in a report, against the numbers that it is made from."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from sklearn.calibration import calibration_curve

import chebnet2d
from chebnet2d import InputError
from chebnet2d.html_reports.evaluation import evaluate
from chebnet2d.html_reports.grids import facts_of_all, shown
from chebnet2d.html_reports.study_page import default_reference
from chebnet2d.models import MODELS, Ensemble
from chebnet2d.predictions import read_for
from chebnet2d.reports import make_tables
from chebnet2d.study import export_rows, read_rows
from chebnet2d.training.calibration_bins import Calibration
from cli_runner import run
from hostile_graph import CLASSES
from randomised_model import randomised


class Tables(HTMLParser):
    """All tables of a page: caption -> rows of words."""

    def __init__(self, text):
        super().__init__()
        self.found, self.inside, self.tip = {}, None, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td", "caption"):
            self.inside, self.words = tag, []
        elif tag == "div" and dict(attributes).get("role") == "tooltip":
            self.tip = 1

    def handle_endtag(self, tag):
        if tag == "caption":
            self.caption = "".join(self.words)
        elif tag in ("th", "td"):
            self.rows[-1].append(" ".join("".join(self.words).split()))
        elif tag == "table":
            self.found[self.caption] = self.rows
        elif tag == "div":
            self.tip = 0

    def handle_data(self, data):
        if self.inside and not self.tip:
            self.words.append(data)


def tables_of(path):
    return Tables(path.read_text(encoding="utf-8")).found


def test_bins_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.2, 1.0, 500)
    right = rng.uniform(size=500) < confidence**2
    found = Calibration.of(confidence.tolist(), right.tolist(), bins=10)
    shares, means = calibration_curve(right, confidence, n_bins=10)
    assert [one.right for one in found.bins] == pytest.approx(shares)
    assert [one.confidence for one in found.bins] == pytest.approx(means)
    assert found.error == pytest.approx(sum(abs(one.confidence - one.right) * one.nodes / 500 for one in found.bins))
    assert Calibration.of([1.0, 0.0], [True, False]).error == 0


def test_a_model_is_judged_by_its_test_nodes(hostile, model_page):
    model = chebnet2d.load(hostile / "model")
    data = read_for(model, str(hostile / "graph"))
    found = evaluate(model, data)
    table = chebnet2d.predict(model, data).to_pandas()
    test = table[table.part == "test"]
    wrong = test[test.label != test.given_label]
    assert found.nodes == f"{len(test)} test nodes"
    assert found.report.scores["accuracy"] == pytest.approx(1 - len(wrong) / len(test))
    assert len(found.mistakes) == len(wrong)
    best = [row[f"probability_{row.label}"] for _, row in wrong.iterrows()]
    assert [one.confidence for one in found.mistakes] == pytest.approx(sorted(best, reverse=True))

    tables = tables_of(model_page)
    confusion = tables["Confusion matrix: rows are classes, columns what was predicted"]
    assert confusion[0][1:] == sorted(CLASSES)
    for t, name in enumerate(sorted(CLASSES), start=1):
        counts = [int(((test.given_label == name) & (test.label == other)).sum()) for other in sorted(CLASSES)]
        assert confusion[t] == [name, *map(str, counts)]
    listed = tables["The most confident mistakes"][1:]
    assert [row[0] for row in listed] == [str(one.node) for one in found.mistakes[:1]]


def test_explanations_of_mistakes_are_those_of_explain(hostile, model_page):
    model = chebnet2d.load(hostile / "model")
    data = read_for(model, str(hostile / "graph"))
    first = evaluate(model, data).mistakes[0]
    (known,) = chebnet2d.explain(model, data, [first.node], class_name=first.predicted)
    rows = tables_of(model_page)[f"Nodes with the largest shares for {first.node}"][1:]
    assert rows == [[str(node), str(hops), f"{share:+.4f}"] for node, hops, share in known.top_nodes(8)]


def test_without_a_graph_the_facts_of_the_training_are_shown(hostile, tmp_path):
    page = chebnet2d.report(hostile / "model", out=tmp_path / "r.html").read_text()
    assert "No graph was given" in page
    assert "Learned filters" in page
    assert "1 at the training" not in page
    assert re.search(r"<dt>torch at the training</dt><dd>1</dd>", page)


def test_mistakes_of_an_ensemble_are_told_by_a_run_that_is_a_sum(predictor, tmp_path):
    _, graph = predictor
    runs = [[MODELS["gcn"](6, 3)], [randomised(MODELS["gprgnn"](6, 3)).float() for _ in range(3)]]
    page = chebnet2d.report(Ensemble(runs), graph, out=tmp_path / "r.html").read_text()
    assert "By GPRGNN, the first run of member 2: one of 4 models that are averaged." in page
    assert "median of 3 runs" in page
    assert "which of them the model was trained on is not known" in page


def test_a_predictor_has_its_leaderboard(predictor, tmp_path):
    folder, graph = predictor
    page = chebnet2d.report(folder, graph, out=tmp_path / "r.html")
    made = chebnet2d.NodePredictor.load(folder)
    rows = next(rows for caption, rows in tables_of(page).items() if caption.startswith("Leaderboard"))[1:]
    assert [row[0] for row in rows] == [row["method"] for row in made.leaderboard()]
    text = page.read_text()
    assert made.graph_adds.split(":")[0] in text
    test = sum(map(sum, made.facts["test"]["confusion"]))
    assert f"Judged by {test} test nodes." in text


def test_the_cells_of_a_study_are_those_of_its_tables(store, study_page):
    (table,) = make_tables(read_rows(store))
    rows = tables_of(study_page)["Test accuracy, split uniform"]
    assert rows[0][1:-1] == list(table.datasets)
    for row, method in zip(rows[1:], table.methods, strict=True):
        for text, dataset in zip(row[1:], table.datasets, strict=False):
            cell = table.cells[method, dataset].summary
            assert text.startswith(f"{100 * cell.mean:.2f} ± {100 * cell.half_width:.2f}")


def test_without_chebnet2d_an_arm_with_a_2d_convolution_is_the_reference():
    def row(name, method, **model):
        return {"method": name, "config": {"method": method, "model": model}}

    first, ours = row("MLP", "mlp"), row("pairs", "one-filter", coupling="2d")
    assert default_reference([first, row("I", "one-filter", coupling="I"), ours]) == "pairs"
    assert default_reference([first, ours, row("chebnet2d", "chebnet2d")]) == "chebnet2d"
    assert default_reference([first]) == "MLP"


def test_an_export_makes_the_page_of_its_store(store, study_page, tmp_path):
    export_rows(store, tmp_path / "s.sqlite.parquet")
    page = chebnet2d.report(tmp_path / "s.sqlite.parquet", out=tmp_path / "r.html")
    assert tables_of(page) == tables_of(study_page)


def test_the_same_report_has_the_same_bytes_and_is_small(study_page, model_page, store, tmp_path):
    again = chebnet2d.report(store, out=tmp_path / "r.html")
    assert again.read_bytes() == study_page.read_bytes()
    for page in (study_page, model_page):
        assert page.stat().st_size < 5e6
        assert not re.search(r"(src|href)=\"(?!data:|#)", page.read_text()), "nothing is loaded from elsewhere"


@pytest.mark.parametrize("name", ["majority", "gcn"])
def test_methods_without_filters_say_so(name, tmp_path):
    data = chebnet2d.data.load("csbm", nodes=40, classes=2, features=3)
    model = MODELS[name](3, 2)
    chebnet2d.fit(model, data, chebnet2d.data.split(data, "uniform", seed=0), seed=0, epochs=2)
    page = chebnet2d.report(model, data, out=tmp_path / "r.html", mistakes=1).read_text()
    assert "There are none to draw" in page
    assert ("not explained" in page) == (name == "majority")


def test_explanations_as_a_page(explained_page, hostile):
    model = chebnet2d.load(hostile / "model")
    data = read_for(model, str(hostile / "graph"))
    known = chebnet2d.explain(model, data, [f"<b onclick=x>{i}</b>" for i in range(2)])
    tables = tables_of(explained_page)
    for one in known:
        rows = tables[f"Nodes with the largest shares for {one.node}"][1:]
        assert rows == [[str(node), str(hops), f"{share:+.4f}"] for node, hops, share in one.top_nodes(4)]
        assert len(tables[f"Features with the largest shares for {one.node}"]) == 3
    assert "Shares are exact" in explained_page.read_text()


def test_a_model_on_bases_with_its_graph_and_with_its_bases(tmp_path):
    data = chebnet2d.data.load("csbm", nodes=60, classes=3, features=4, seed=2)
    bases = chebnet2d.bases.precompute(data, out=tmp_path / "b", degree=2).with_labels(data.y, 3)
    model = chebnet2d.models.on_bases("chebnet2d", bases, hidden_channels=4)
    graph = chebnet2d.report(model, data, out=tmp_path / "g.html", mistakes=1)
    stored = chebnet2d.report(model, bases, out=tmp_path / "b.html", mistakes=1)
    tables = [tables_of(page) for page in (graph, stored)]
    names = ("By class", "The most confident mistakes")
    assert [tables[0][name] for name in names] == [tables[1][name] for name in names]
    assert any(name.startswith("Nodes with the largest shares") for name in tables[0])
    assert "name the graph instead of its bases" in stored.read_text()
    assert all("Learned filters: from feature (row)" in page.read_text() for page in (graph, stored))


EDITED = [
    ({"report": {"majority": 1}}, "report of the model must have the fields"),
    ({"report": {"majority": 0.5, "scores": {}, "classes": [], "confusion": [[1]]}}, "a square confusion matrix"),
    ({"split": "uniform"}, "split of the model must be a table"),
    ({"leaderboard": [{"method": "x"}]}, "leaderboard of the model must be rows with"),
    ({"graph_adds": {"low": 1}}, "graph_adds of the predictor must have the fields"),
    ({"metric": 3}, "metric of the model must be a text"),
]


@pytest.mark.parametrize(("facts", "match"), EDITED, ids=[next(iter(facts)) for facts, _ in EDITED])
def test_facts_that_were_edited_are_refused(facts, match, tmp_path):
    chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path / "m", facts=facts)
    with pytest.raises(InputError, match=match):
        chebnet2d.report(tmp_path / "m", out=tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_settings_for_people():
    assert [shown(value) for value in (None, True, 1234, 0.0005, [1, 2], "x")] == ["none", "yes", "1,234", "0.0005", "1, 2", "x"]
    assert facts_of_all([{"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"b": 1}}]) == [("a.b", "1 | 2")]


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((3,), {}, "subject must be a model, a predictor, or the path"),
        (("nowhere",), {}, "subject must be the folder of a model or predictor, or the file of a study, got 'nowhere'"),
        ((torch.nn.Linear(1, 1),), {}, "subject must be a model"),
        (("STORE", "digits"), {}, "graph must be left out for a study"),
        (("STORE",), {"reference": "gcn"}, "reference must be one of the methods with finished runs"),
        (("STORE",), {"out": "r.pdf"}, "out must end in .html"),
        (("STORE",), {"mistakes": -1}, "mistakes must be an integer from 0 to 20"),
    ],
)
def test_wrong_input(arguments, options, match, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = [store if word == "STORE" else word for word in arguments]
    with pytest.raises(InputError, match=match):
        chebnet2d.report(*given, **{"out": "r.html", **options})
    assert list(tmp_path.iterdir()) == []


def test_the_command(store, hostile, tmp_path):
    said = run("report", hostile / "model", hostile / "graph", "--out", tmp_path / "r.html", "--mistakes", 0).stdout
    assert f"report written to {tmp_path / 'r.html'} (" in said
    assert "MODEL|STORE must be" in run("report", tmp_path / "nowhere", "--out", tmp_path / "n.html", code=2).stderr
    assert "--reference must be one of" in run("report", store, "--reference", "x", "--out", tmp_path / "n.html", code=2).stderr
