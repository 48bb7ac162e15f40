"""The model card: what was recorded is on it, what was not is said, and names of the data are no markup."""

import re

import chebnet2d
from chebnet2d.training import judge


def test_the_card_of_a_trained_model_has_its_record(tmp_path):
    data = chebnet2d.data.load("csbm", nodes=60, features=4, classes=2)
    data.class_names = ["a|b", "<script>"]
    model = chebnet2d.ChebNet2D(4, 2, degree=2)
    result = chebnet2d.fit(model, data, chebnet2d.data.split(data, "uniform", seed=0), seed=0, epochs=3)
    found = judge(result, data)
    facts = {"dataset": "csbm", "class_names": data.class_names, **result.to_record(), "report": found.to_json()}
    card = (chebnet2d.save(model, tmp_path / "m", facts=facts) / "README.md").read_text(encoding="utf-8")
    front, rest = card.removeprefix("---\n").split("\n---\n", 1)
    assert "library_name: chebnet2d" in front.splitlines()
    assert "# chebnet2d on csbm" in rest
    assert f"digest {result.split.digest}" in rest
    assert f"| accuracy | {result.test['accuracy']:.4f} |" in rest
    for row in found.rows():
        numbers = " | ".join(f"{row[name]:.4f}" for name in ("precision", "recall", "f1"))
        assert f"| {numbers} | {row['support']} |" in rest
    assert "a&#124;b" in rest
    assert "<script>" not in rest
    tables = [line for line in rest.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} == {3, 6}, "no name adds a column"


def test_a_model_without_a_record_says_so(tmp_path):
    card = (chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path / "m") / "README.md").read_text(encoding="utf-8")
    assert card.count("not recorded |") == 9
    assert "nothing is known of how good this model is" in card


def test_what_went_wrong_is_on_the_card(tmp_path):
    facts = {"interrupted": True, "diverged": 7}
    card = (chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path / "m", facts=facts) / "README.md").read_text(encoding="utf-8")
    assert "no finite number from epoch 7 on" in card
    assert "interrupted" in card
