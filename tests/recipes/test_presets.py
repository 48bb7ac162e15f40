"""Preset files: what is wrong with them, and that writing keeps them."""

from dataclasses import replace

import pytest

import chebnet2d
from chebnet2d.recipes import Recipe, load_recipe, write_recipe
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
        ("[digits]\n[Digits]\n", "must have one table per dataset, got digits, Digits"),
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
        load_recipe("chebnet2d", "digits", path)


def test_presets_survive_writing(tmp_path):
    model = {"degree": 4, "dropout": 0.5, "init": "xavier", "rank": None, "odd": [1, 2.0, "tab\t, ü"]}
    written = Recipe("chebnet2d:unified", None, "my graph", "standardize", model, {"lr": 1e-05, "big": 1e22}, 'by "hand"\n')
    write_recipe(tmp_path / "p.toml", written, {"note": 3})
    read = load_recipe("chebnet2d", "my graph", tmp_path / "p.toml")
    assert read == replace(written, model={name: value for name, value in model.items() if value is not None})
    assert read.name == "chebnet2d:unified"


def test_a_users_preset_for_a_unified_method_is_taken_as_it_is(tmp_path):
    (tmp_path / "own.toml").write_text("[default]\nmodel = { hidden_channels = 7 }\n")
    protocol = Protocol(("gprgnn:unified",), ("csbm",), presets={"gprgnn:unified": str(tmp_path / "own.toml")})
    assert protocol.recipe("gprgnn:unified", "csbm").arguments == {"hidden_channels": 7, "variant": "unified"}
