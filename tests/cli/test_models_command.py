"""``chebnet2d models``."""

import json
import re

from chebnet2d.models import MODELS
from chebnet2d.recipes import load_recipe
from chebnet2d.reports.methods import cited
from cli_runner import run
from shipped_methods import OURS


def test_list_as_json_counts_parameters_for_the_dataset():
    records = {record["name"]: record for record in json.loads(run("models", "--json").stdout)["models"]}
    assert set(OURS) <= set(records)
    assert records["mlp"]["parameters"] == 1433 * 64 + 64 + 64 * 7 + 7
    degree = load_recipe("chebnet2d", "cora").model["degree"]
    assert records["chebnet2d"]["parameters"] == records["mlp"]["parameters"] + (degree + 1) * 7 * 7
    assert records["gprgnn"]["parameters"] == records["mlp"]["parameters"] + 11
    on_digits = json.loads(run("models", "mlp", "--dataset", "digits", "--json").stdout)
    assert on_digits["parameters"] == 64 * 64 + 64 + 64 * 10 + 10


def test_list_for_people_has_a_row_for_each_method():
    lines = run("models").stdout.splitlines()
    for name in OURS:
        (row,) = [line for line in lines if line.split()[:1] == [name]]
        assert cited(MODELS[name].info.citation) in row
        assert MODELS[name].info.citation not in row
        assert len(row.rstrip()) <= 140
    assert "parameters (cora)" in lines[1]


def test_list_cites_by_authors_and_year():
    assert cited(MODELS["jacobiconv"].info.citation) == "Wang and Zhang, ICML 2022"
    assert cited(MODELS["appnp"].info.citation) == "Gasteiger et al., ICLR 2019"
    assert cited(MODELS["chebnet2d"].info.citation) == "Li et al., arXiv 2404.04559, 2024"
    assert cited("An example, 2024") == "An example, 2024"
    for name in OURS:
        assert re.fullmatch(r"\w+( and \w+| et al\.), [\w. ]+,? \d{4}", cited(MODELS[name].info.citation)), name
    assert MODELS["linkx"].info.citation in run("models", "linkx").stdout


def test_one_method_in_full():
    text = run("models", "jacobiconv").stdout
    assert MODELS["jacobiconv"].info.formula in text
    assert "a=2, b=-0.25" in text, "the tuned settings of Cora"
    assert "Search model a: -1.0, -0.75" in text
    record = json.loads(run("models", "jacobiconv", "--json").stdout)
    assert record["presets"]["cora"]["settings"]["scale_lr"] == 0.01
    assert record["groups"]["scale"] == ["conv.paradigm.eta"]
    assert record["arguments"]["sign"] == "published"


def test_unknown_names_are_answered_with_near_ones():
    wrong = run("models", "chebnet-ii", code=2).stderr
    assert wrong.startswith("chebnet2d: models: NAME must be one of 'adc', 'gadc'")
    assert wrong.endswith("got 'chebnet-ii'. Did you mean 'chebnetii' or 'chebnet' or 'chebnet2d'?\n")
    wrong = run("models", "--dataset", "no-such-graph", code=2).stderr
    assert wrong.startswith("chebnet2d: models: --dataset must be one of 'digits', 'csbm'")
