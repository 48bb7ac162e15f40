"""The command line as a whole: help, version, examples, what pages and Makefile say of it."""

import inspect
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import chebnet2d
from chebnet2d.cli import app, commands
from chebnet2d.cli.app import make_app
from chebnet2d.cli.command import COMMANDS
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


BY_NAME = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", BY_NAME)
def test_every_command_has_an_example(command):
    assert f"Example: chebnet2d {command}" in BY_NAME[command].help


def test_the_page_says_which_commands_have_no_json_and_names_those_of_groups():
    without = [name for name, command in BY_NAME.items() if not any("--json" in option.opts for option in command.params)]
    assert without == ["study table", "study export"]
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    assert "`study export` does without it, `study table` has `--format json`" in page
    for group in ("data", "study"):
        names = [name.removeprefix(f"{group} ") for name in BY_NAME if name.startswith(f"{group} ")]
        assert f"`chebnet2d {group} " + r"\|".join(names) + "`" in page
        assert ", ".join(names) in run(group, "--help").stdout


def test_an_interrupt_says_what_becomes_of_the_work(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("chebnet2d.study.run_study", interrupted)
    done = run("study", "run", "--methods", "mlp", "--datasets", "csbm", code=130)
    words = "interrupted. Finished runs are in the store, and the same command goes on from them."
    assert done.stderr == f"chebnet2d: {words}\n"


GREET = """
from chebnet2d._checks import integer
from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("study greet")
def greet(asked: options.BatchOptions, json: options.Json = False) -> None:
    print(integer("Batches", "size", asked.batch_size, 2))
"""


def test_a_command_is_one_file(tmp_path, monkeypatch):
    """A module that is put into the package ``commands`` is a command, with its flags in its errors."""
    (tmp_path / "greet.py").write_text(GREET)
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    monkeypatch.setattr(COMMANDS, "_known", dict(COMMANDS))
    grown = make_app()
    sys.modules.pop("chebnet2d.cli.commands.greet")
    answer = CliRunner().invoke(grown, ["study", "greet", "--batch-size", "7"])
    assert (answer.exit_code, answer.output) == (0, "7\n")
    answer = CliRunner().invoke(grown, ["study", "greet", "--batch-size", "1"])
    assert answer.output == "chebnet2d: study greet: --batch-size must be an integer >= 2, got 1.\n"
    assert "run, status, table, export, presets, greet" in CliRunner().invoke(grown, ["study", "--help"]).output


def test_functions_are_short_and_a_flag_means_one_thing():
    helps = {}
    for name, command in BY_NAME.items():
        assert len(inspect.signature(inspect.unwrap(COMMANDS[name].function)).parameters) <= 10, name
        for option in command.params:
            helps.setdefault(option.opts[0], set()).add(option.help)
    # Of these each command has its own: what a seed is the seed of, what a file is written for, which method is the default,
    # whether what was exported of a study will do.
    own = {
        "--seed",
        "--out",
        "--kind",
        "--split",
        "--splits",
        "--degree",
        "--memory",
        "--method",
        "--batch-size",
        "--store",
        "name",
        "model",
    }
    assert {flag for flag, words in helps.items() if len(words) > 1} <= own


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
