"""A graph of the user's gives the same tensors through every format."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chebnet2d.data.own_graph import write_graph
from graph_writers import (
    Example,
    as_networkx,
    as_npz,
    as_parquet,
    as_text,
    assert_same,
    feature_names,
    raw_networkx,
    read_raw,
    truth,
)

WORDS = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"), include_characters=" ,;\"'\t", max_codepoint=0x2FFFF
    ),
    min_size=1,
    max_size=6,
).filter(lambda text: text == text.strip() and text == " ".join(text.split("\t")) and text not in ("", "nan", "NaN"))
NUMBERS = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    kind = draw(st.sampled_from([st.integers(-5, 10**12), WORDS, st.integers(0, 999).map(lambda n: f"{n:03d}")]))
    ids = draw(st.lists(kind, min_size=1, max_size=8, unique_by=str))
    width = draw(st.integers(1, 3))
    # A column without any value has no type in some formats: the first row is complete.
    value = st.one_of(NUMBERS, st.none())
    x = [draw(st.lists(NUMBERS if k == 0 else value, min_size=width, max_size=width)) for k in range(len(ids))]
    names = draw(st.sampled_from([st.integers(0, 50), WORDS.filter(lambda w: not w[0].isdigit() and w[0] not in "+-.")]))
    labels = draw(st.lists(st.one_of(st.none(), names), min_size=len(ids), max_size=len(ids)))
    edges = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=10))
    weights = draw(st.one_of(st.none(), st.lists(st.floats(0, 100, width=32), min_size=len(edges), max_size=len(edges))))
    if not edges:
        weights = None
    return Example(ids, x, labels, edges, weights)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(example=examples(), missing=st.sampled_from(["zero", "mean"]))
def test_every_format_gives_the_same_tensors(tmp_path_factory: pytest.TempPathFactory, example: Example, missing: str) -> None:
    folder = tmp_path_factory.mktemp("graph")
    expected = truth(example, missing)
    found = {}
    for suffix in ("csv", "tsv"):
        (folder / suffix).mkdir()
        as_text(folder / suffix, example, suffix)
        found[suffix] = read_raw(folder / suffix, missing_features=missing)
    (folder / "parquet").mkdir()
    found["parquet"] = read_raw(as_parquet(folder / "parquet", example), missing_features=missing)
    for sparse in (False, True):
        found[f"npz, sparse {sparse}"] = read_raw(as_npz(folder, example, expected, sparse), missing_features=missing)
    found["networkx"] = raw_networkx(as_networkx(example), feature_names(example), missing_features=missing)
    for source in ("csv", "npz, sparse True"):
        found[f"safetensors of {source}"] = read_raw(write_graph(found[source], folder / "graph.safetensors"))
    for name, data in found.items():
        if name == "networkx":  # which lists its edges by source
            assert sorted(data.edge_index.T.tolist()) == sorted(map(list, zip(*expected["edge_index"], strict=True)))
            data.edge_index, data.edge_weight = found["csv"].edge_index, found["csv"].get("edge_weight")
        assert_same(data, expected, example.weights)


XML = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=("Cs", "Cc", "Cn", "Zs")), min_size=1, max_size=5
)


@settings(max_examples=25, deadline=None)
@given(
    ids=st.lists(XML, min_size=1, max_size=6, unique=True),
    seed=st.integers(0, 2**32 - 1),
    directed=st.booleans(),
)
def test_graphml_as_networkx_writes_it_equals_networkx(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], seed: int, directed: bool
) -> None:
    random = np.random.default_rng(seed)
    graph = nx.DiGraph() if directed else nx.Graph()
    for i in ids:
        graph.add_node(i, f=float(random.standard_normal()), count=int(random.integers(9)), flag=bool(random.integers(2)))
        if random.random() < 0.7:
            graph.nodes[i]["label"] = ["red", "grün", "a & b"][random.integers(3)]
    for _ in range(2 * len(ids)):
        a, b = random.choice(ids, 2)
        graph.add_edge(str(a), str(b), weight=float(random.random()))
    path = tmp_path_factory.mktemp("graphml") / "graph.graphml"
    nx.write_graphml(graph, path)
    read, direct = read_raw(path), raw_networkx(graph)
    for key in ("x", "y", "edge_index", "edge_weight"):
        torch.testing.assert_close(read[key], direct[key], rtol=0, atol=0)
    assert list(read.node_ids) == list(direct.node_ids)
    assert read.class_names == direct.class_names
    assert read.feature_names == direct.feature_names == ["f", "count", "flag"]
