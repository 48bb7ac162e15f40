"""``chebnet2d search``."""

import json

import pytest

from chebnet2d.recipes import load_recipe
from chebnet2d.study import Protocol
from cli_runner import run


class TestCommand:
    OPTIONS = ("--splits", 2, "--epochs", 12, "--batch", 4, "--range", "degree=1,3", "--range", "dropout=0,0.5")

    def test_it_writes_a_preset_that_load_recipe_reads(self, tmp_path):
        out, log = tmp_path / "found" / "preset.toml", tmp_path / "log.txt"
        done = run("search", "csbm", "--budget", 6, *self.OPTIONS, "--out", out, "--log", log, "--json")
        record = json.loads(done.stdout)
        preset = load_recipe("chebnet2d", "csbm", out)
        assert preset.to_json() == record["preset"]
        assert preset.model["degree"] in (1, 3, 10)
        assert preset.origin.startswith(("found by search: random, 6 trials on 2 uniform splits", "default of the class"))
        assert record["trials"] == 6
        assert record["search"]["space"]["degree"] == [1, 3]
        assert "test" not in json.dumps({name: record[name] for name in ("best", "baseline", "metric", "search")})
        mark, *lines = log.read_text().splitlines()
        assert (mark, len(lines)) == ("# chebnet2d log", 3)
        assert done.stderr == ""
        assert out.read_text().startswith("# written by: chebnet2d ")
        studied = Protocol(("chebnet2d",), ("csbm",), presets={"chebnet2d": str(out)}).recipe("chebnet2d", "csbm")
        assert studied.model == preset.model
        trained = json.loads(run("train", "csbm", "--preset", out, "--epochs", 2, "--json").stdout)
        assert trained["preset"] == preset.origin

    def test_it_says_what_it_found(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        done = run("search", "csbm", "--method", "mlp", "--budget", 2, "--splits", 1, "--epochs", 5, "--no-baseline")
        assert "2 trials, 0 of them pruned" in done.stdout
        assert "validation accuracy of the best trial: " in done.stdout
        assert "preset: mlp-csbm.toml" in done.stdout
        assert load_recipe("mlp", "csbm", tmp_path / "mlp-csbm.toml").settings["epochs"] == 5

    def test_the_example(self):
        assert "Example: chebnet2d search" in run("search", "--help").stdout

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--budget", "soon"], "search: --budget must be a time like 90s, 10m or 2h, or a number of trials, got 'soon'."),
            (["--out", "preset.json"], "search: --out must be a file that ends in .toml, got 'preset.json'."),
            (["--range", "lr"], "search: --range must be like lr=0.01,0.05, got 'lr'."),
            (["--range", "speed=1"], "the name of a range must be one of"),
            (["--sampler", "gird"], "search: --sampler must be one of 'tpe', 'random', 'grid', got 'gird'. Did you mean 'grid'?"),
            (["--storage", "trials"], "search: --storage must be the address of a database"),
            (["--splits", "0"], "search: --splits must be an integer >= 1, got 0."),
            (["--method", "gnc"], "search: --method must be one of 'adc', 'gadc'"),
            (["--split", "unifrm"], "search: --split must be one of"),
        ],
    )
    def test_wrong_commands(self, tmp_path, monkeypatch, arguments, sentence):
        monkeypatch.chdir(tmp_path)
        done = run("search", "csbm", *arguments, code=2)
        assert sentence in " ".join(done.stderr.split())
        assert done.stdout == ""
        assert list(tmp_path.iterdir()) == []
