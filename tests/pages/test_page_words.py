"""The words of every command on a page are known: commands and flags, targets of the Makefile, files and extras."""

import re
import shlex
import tomllib

import pytest
import typer

from chebnet2d.cli import app
from page_pieces import PAGES, ROOT, commands, read_pieces

ALL = sorted({piece.text for page in PAGES.values() for piece in commands(page)})
OURS = [text for text in ALL if text.startswith(("chebnet2d ", "torchrun "))]
ROOT_COMMAND = typer.main.get_command(app)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def _command(words):
    """The command that the first words name, and the rest of the words."""
    node, rest = ROOT_COMMAND, list(words)
    while hasattr(node, "commands") and rest and not rest[0].startswith("-"):
        node = node.commands[rest.pop(0)]
    return node, rest


@pytest.mark.parametrize("text", OURS)
def test_commands_and_their_flags(text):
    for one in _alternatives(text):
        command, words = _command(shlex.split(re.sub(r"[][]", "", one).partition("chebnet2d ")[2]))
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
        assert {word for word in words if word.startswith("--")} <= known


def _alternatives(text):
    """``data list|check`` are two commands; bars between words of the reader are none."""
    found = re.search(r"[a-z]+(\|[a-z]+)+(?= |$)", text)
    return [text] if found is None else [text.replace(found[0], name) for name in found[0].split("|")]


@pytest.mark.parametrize("text", [text for text in OURS if not re.search(r"[A-Z]{4,}|\[|\||--version", text)])
def test_whole_commands_are_parsed(text):
    """Types and numbers of arguments too; a bare name stands for the command."""
    command, rest = _command(shlex.split(text.partition("chebnet2d ")[2]))
    if rest:
        command.make_context(text, rest)


def test_targets_files_and_extras():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for text in ALL:
        words = text.split()
        if words[0] == "make":
            assert f"\n{words[1]}:" in MAKEFILE, text
            assert all(f"\n{word.split('=')[0]} ?=" in MAKEFILE for word in words[2:]), text
        elif words[0] == "python" and "NAME" not in text:
            script = (ROOT / words[1]).read_text(encoding="utf-8")
            flags = [word for word in words if word.startswith("--")]
            assert [flag for flag in flags if f'"{flag}"' not in script] == [], text
        elif words[0] == "pip":
            assert set(re.findall(r"chebnet2d\[(\w+)\]", text)) <= set(extras), text


def test_every_language_of_a_block_is_known():
    """A block in another language would be followed by nobody. Code cells are run by ``make site``."""
    found = {piece.language for page in PAGES.values() for piece in read_pieces(page.read_text(encoding="utf-8"))}
    followed = {"console", "python", "pycon", "toml", "csv"}
    assert found - followed == {"{code-cell}", "{eval-rst}", "{toctree}", "text", "bibtex"}
