"""Protocols from files, tables and arguments, and what is wrong with them."""

import json
import os
import re

import pytest

import chebnet2d
from chebnet2d.recipes import load_recipe
from chebnet2d.study import Protocol, Store, run_study
from small_study import small


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"cora": {"epochs": 3}}, "limits must be one of 'csbm', 'digits', got 'cora'"),
        ({"csbm": {"lr": 1}}, "limits.csbm must be one of 'epochs', 'patience', 'splits', got 'lr'"),
        ({"csbm": 3}, "limits.csbm must be a table of names and values, got 3"),
        ({"csbm": {"patience": 0}}, "limits.csbm.patience must be an integer >= 1, got 0"),
    ],
)
def test_wrong_limits(preset, limits, sentence):
    with pytest.raises(chebnet2d.InputError, match=re.escape(sentence)):
        small(preset, limits=limits)


def test_presets_of_a_method_that_is_not_there_are_refused(preset):
    with pytest.raises(chebnet2d.InputError, match=r"presets must be one of 'chebnet2d', got 'chebnet2'. Did you mean"):
        small(preset, presets={"chebnet2": preset})
    Protocol(("gprgnn:unified",), ("csbm",), presets={"gprgnn": preset})


def test_paths_of_presets_begin_at_the_file_wherever_the_study_is_started(preset, tmp_path, monkeypatch):
    path = tmp_path / "p.toml"
    text = 'methods = ["chebnet2d"]\ndatasets = ["csbm"]\nsplits = 1\ninits = 1\nepochs = 2\n[presets]\nchebnet2d = '
    path.write_text(text + '"preset.toml"\n')
    (tmp_path / "elsewhere").mkdir()
    for folder in (tmp_path / "elsewhere", tmp_path):
        monkeypatch.chdir(folder)
        protocol = Protocol.from_toml(os.path.relpath(path))
        assert protocol.recipe("chebnet2d", "csbm").settings["lr"] == 0.02
        run_study(protocol, tmp_path / "s.sqlite")
    path.write_text(text + f'"{preset}"\n')
    assert Protocol.from_toml(path).presets == {"chebnet2d": preset}, "an absolute path stays"


def test_protocol_from_files_and_tables(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('methods = ["chebnet2d"]\ndatasets = ["digits"]\nsplits = 2\n')
    assert Protocol.from_toml(path) == Protocol(("chebnet2d",), ("digits",), splits=2)
    path.write_text('table = 1\nmethods = ["chebnet2d"]\ninits = 1\n')
    assert Protocol.from_toml(path).datasets[:2] == ("cora", "citeseer")
    assert len(Protocol.from_table(1).datasets) == 10
    assert len(Protocol.from_table(2).datasets) == len(Protocol.from_table(3).datasets) == 8
    assert Protocol.from_json(json.loads(json.dumps(Protocol.from_table(1).to_json()))) == Protocol.from_table(1)


WRONG = [
    (lambda: Protocol(("chebnet3d",), ("digits",)), "Did you mean 'chebnet2d'"),
    (lambda: Protocol(("chebnet2d",), ()), "datasets must be different names, at least one"),
    (lambda: Protocol(("chebnet2d", "chebnet2d"), ("digits",)), "methods must be different names"),
    (lambda: Protocol(("chebnet2d",), ("digits",), splits=0), "splits must be an integer >= 1, got 0"),
    (lambda: Protocol(("chebnet2d",), ("digits",), split="odd"), "split must be one of"),
    (lambda: Protocol(("chebnet2d",), ("digits",), split=3), "split must be different names, at least one, got 3"),
    (lambda: Protocol(("chebnet2d",), ("texsa",)), "Did you mean 'texas'"),
    (lambda: Protocol(("chebnet2d",), ("Texas", "texas")), "datasets must be different names"),
    (lambda: Protocol(("mlp",), ("texas",), limits={"Texas": {}, "texas": {}}), "limits must be of different datasets"),
    (lambda: Protocol(("chebnet2d",), (3,)), "datasets must be different names, at least one, got (3,)"),
    (lambda: Protocol(("chebnet2d",), ("digits",), monitor="luck"), "monitor must be one of"),
    (lambda: Protocol(("chebnet2d",), ("digits",), presets=3), "presets must be a table of names and values, got 3"),
    (lambda: Protocol(("mlp",), ("digits",), presets={"mlp": 3}), "presets.mlp must be the path of a preset file, got 3"),
    (lambda: Protocol(("mlp",), ("digits",), limits=3), "limits must be a table of names and values, got 3"),
    (lambda: Protocol.from_toml(".."), "path must be a TOML file, got '..': Is a directory"),
    (lambda: Protocol.from_table(5), "number must be 1, 2 or 3, got 5"),
    (lambda: Protocol.from_table([1]), "number must be 1, 2 or 3, got [1]"),
    (lambda: Store(".."), "path must be a file, got the folder '..'"),
    (lambda: Store("/dev/null/s.sqlite"), "path must be in a folder, got '/dev/null/s.sqlite', where '/dev/null' is a file"),
    (lambda: Store("x" * 300), "path must be a file, got"),
    (lambda: load_recipe("chebnet2d", "digits", ".."), "path must be a preset file, got '..': Is a directory"),
    (lambda: Store("missing.sqlite", create=False), "path must be the file of a study, got 'missing.sqlite'"),
    (lambda: load_recipe("chebnet2d", "digits", "missing.toml"), "path must be a preset file, got 'missing.toml'"),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG, ids=[s for _, s in WRONG])
def test_wrong_calls(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(chebnet2d.InputError) as caught:
        call()
    assert sentence in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_datasets_have_the_names_of_the_catalogue(tmp_path):
    protocol = Protocol(("chebnet2d",), ("Texas", "FILM", "roman_empire", "Digits"), limits={"Actor": {"epochs": 7}})
    assert protocol.datasets == ("texas", "actor", "roman-empire", "digits")
    assert protocol.recipe("chebnet2d", "film").settings["epochs"] == 7
    for dataset, name in (("Texas", "texas"), ("film", "actor"), ("Amazon_Photo", "photo")):
        preset = load_recipe("chebnet2d", dataset)
        assert preset == load_recipe("chebnet2d", name)
        assert "default" not in preset.origin
    (tmp_path / "p.toml").write_text("[default]\n[CiteSeer]\nmodel = { degree = 3 }\n")
    assert load_recipe("chebnet2d", "citeseer", tmp_path / "p.toml").model == {"degree": 3}


@pytest.mark.parametrize("text", ["[presets]\nmlp = 3", "presets = 3", "[limits]\ncsbm = 3", "split = 3", "table = [[1]]"])
def test_a_malformed_protocol_file_is_one_sentence(text, tmp_path):
    names = "" if text.startswith("table") else 'methods = ["mlp"]\ndatasets = ["csbm"]\n'
    (tmp_path / "p.toml").write_text(names + text)
    with pytest.raises(chebnet2d.InputError, match="^Protocol.* must be .*, got .*[.]$"):
        Protocol.from_toml(tmp_path / "p.toml")
