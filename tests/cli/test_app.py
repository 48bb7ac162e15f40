"""The command line as a whole: help, version, examples, what README and Makefile say of it."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

import chebnet2d
from chebnet2d.cli import app, main
from cli_runner import run


def test_help_is_quick_and_loads_nothing_heavy():
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "chebnet2d", "--help"], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - start
    assert "Example: chebnet2d train" in done.stdout
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert not loaded & {"torch", "numpy", "matplotlib", "pyarrow", "sklearn", "scipy"}
    assert seconds < 3, "0.5 s on a quiet machine; the margin is for a busy one"


def test_version():
    assert run("--version").stdout == f"chebnet2d {chebnet2d.__version__}\n"


def _commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command):
    assert f"Example: chebnet2d {command}" in COMMANDS[command].help


def test_readme_says_which_commands_have_no_json_and_names_those_of_groups():
    without = [name for name, command in COMMANDS.items() if not any("--json" in option.opts for option in command.params)]
    assert without == ["study run", "study table", "study export"]
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert "`study run` and `study export` do without it, `study table` has `--format json`" in readme
    for group in ("data", "study"):
        names = [name.removeprefix(f"{group} ") for name in COMMANDS if name.startswith(f"{group} ")]
        assert f"`chebnet2d {group} " + r"\|".join(names) + "`" in readme
        assert ", ".join(names) in run(group, "--help").stdout


def test_an_interrupt_says_what_becomes_of_the_work(capfd, monkeypatch):
    monkeypatch.setattr("sys.argv", ["chebnet2d", "study", "run"])

    def interrupted():
        raise SystemExit(130)

    monkeypatch.setattr("chebnet2d.cli.app", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main()
    assert "interrupted. Finished runs are in the store, and the same command goes on" in capfd.readouterr().err


def test_methods_and_presets(tmp_path):
    preset = tmp_path / "p.toml"
    preset.write_text('[default]\norigin = "me"\nmodel = { hidden_channels = 8, dropout = 0.1 }\nsettings = { lr = 0.05 }\n')
    record = json.loads(run("train", "digits", "--method", "mlp", "--preset", preset, "--epochs", 5, "--json").stdout)
    assert (record["method"], record["preset"]) == ("mlp", "me")
    shipped = json.loads(run("train", "digits", "--preset", "shipped", "--epochs", 2, "--json").stdout)
    assert shipped["transform"] == "none", "pixels are no counts of words"


def test_makefile_demo_uses_commands_that_exist():
    text = (Path(__file__).parents[2] / "Makefile").read_text()
    assert "chebnet2d train digits" in text
    assert "chebnet2d plot" in text
