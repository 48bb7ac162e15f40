"""Preset files: what is wrong with them, and that writing keeps them."""

import pytest
from chebnet2d.recipes.preset_files import Preset

import chebnet2d
from chebnet2d.recipes import load_preset, write_preset
from chebnet2d.study import Protocol


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not toml", "must be TOML"),
        ("[default]\ncolour = 1", "must have origin, transform, model and settings, got 'colour'"),
        ("[default]\ntransform = 'sideways'", "transform must be one of"),
        ("[texas]\n", r"must have a table \[digits\] or \[default\], got texas"),
        ("[default]\nmethod = 'mlp'", "must be of the method 'chebnet2d'"),
        ("default = 3", r"default in .* must be a table, got 3 .* Write \[default\]"),
        ("[digits]\n[Digits]\n", "must have one table a dataset, got digits, Digits"),
        ("[digits]\nmodel = 3", r"model of \[digits\] in .* must be a table, got 3"),
        ("[digits]\nsettings = []", r"settings of \[digits\] in .* must be a table, got \[\]"),
        ("[digits]\norigin = 3", r"origin of \[digits\] in .* must be a sentence, got 3"),
        ("[digits]\ntransform = []", "transform must be one of"),
    ],
)
def test_wrong_presets(tmp_path, text, sentence):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(chebnet2d.InputError, match=sentence):
        load_preset("chebnet2d", "digits", path)


def test_presets_survive_writing(tmp_path):
    preset = Preset("chebnet2d", "my graph", 'by "hand"', "none", {"degree": 4, "dropout": 0.5, "init": "xavier"}, {"lr": 1e-05})
    write_preset(tmp_path / "p.toml", preset, {"note": 3})
    assert load_preset("chebnet2d", "my graph", tmp_path / "p.toml") == preset


def test_a_users_preset_for_a_unified_method_is_taken_as_it_is(tmp_path):
    (tmp_path / "own.toml").write_text("[default]\nmodel = { hidden_channels = 7 }\n")
    protocol = Protocol(("gprgnn:unified",), ("csbm",), presets={"gprgnn:unified": str(tmp_path / "own.toml")})
    assert protocol.preset("gprgnn:unified", "csbm").model == {"hidden_channels": 7, "variant": "unified"}
