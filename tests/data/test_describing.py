"""``describe`` against networkx, and what it says of odd graphs."""

import json

import networkx as nx
import pytest

from chebnet2d.data import describe, from_networkx, load, statistics
from chebnet2d.data.describing import small_classes
from cli_runner import run
from messy_tables import messy_graph


def test_facts_are_networkx_s():
    graph = nx.karate_club_graph()
    graph.add_node(99, club="Officer")
    graph.add_edges_from([(40, 41), (0, 0)], weight=1)
    graph.nodes[40]["club"] = graph.nodes[41]["club"] = "Mr. Hi"
    facts = describe(from_networkx(graph, features="degree", label="club"))
    plain = nx.Graph(graph)
    plain.remove_edges_from(nx.selfloop_edges(graph))
    assert facts["nodes"] == plain.number_of_nodes()
    assert facts["edges"] == plain.number_of_edges()
    assert facts["self_loops"] == 1
    assert facts["components"] == nx.number_connected_components(plain)
    assert facts["largest_component"] == max(map(len, nx.connected_components(plain)))
    assert facts["isolated"] == nx.number_of_isolates(plain)
    assert facts["degrees"]["most"] == max(degree for _, degree in plain.degree)
    same = [graph.nodes[a]["club"] == graph.nodes[b]["club"] for a, b in plain.edges]
    assert facts["homophily"] == pytest.approx(sum(same) / len(same), abs=1e-4)
    assert facts["classes"] == {"Mr. Hi": 19, "Officer": 18}


def test_datasets_of_the_catalogue_have_the_same_counts():
    data = load("digits")
    facts, known = describe(data), statistics(data)
    assert (facts["edges"], facts["isolated"], facts["twins"]) == (known.edges, known.isolated, known.twins)
    assert facts["homophily"] == known.homophily


def test_the_command_shows_every_column_and_every_problem_at_once(tmp_path):
    folder = messy_graph(tmp_path / "g")
    done = run("data", "describe", folder)
    for words in ("age", "signed logarithm", "left out: 2", "day of the week", "3 categories", "ünlü", "features in all"):
        assert words in done.stdout
    facts = json.loads(run("data", "describe", folder, "--json").stdout)
    assert {column["name"]: column["kind"] for column in facts["columns"]}["city"] == "category"
    lines = (folder / "nodes.csv").read_text(encoding="utf-8").splitlines()
    cells = lines[3].split(",")
    cells[1], cells[2] = "4O", "inf"
    (folder / "nodes.csv").write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:], ""]), encoding="utf-8")
    done = run("data", "describe", folder, code=2)
    assert "line 4: column 'age' must be a number, got '4O'" in done.stderr
    assert "line 4: column 'followers' must be a finite number, got 'inf'" in done.stderr


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ({"yes": 60, "no": 940}, "few labels are of class 'yes' 6.0 % (60 of 1000): accuracy hardly sees them"),
        ({"a": 100, "b": 900}, ""),
        ({str(k): 50 for k in range(20)}, ""),
        ({"a": 0, "b": 10}, ""),
    ],
)
def test_small_classes(classes, sentence):
    assert small_classes(classes).startswith(sentence)
    assert bool(small_classes(classes)) == bool(sentence)
