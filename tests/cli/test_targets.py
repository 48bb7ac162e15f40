"""Nothing that exists and is not ours changes without --force, whichever command writes."""

import pytest
import typer

from chebnet2d.cli import app
from cli_runner import run
from writing_commands import FILES, FOLDERS, made, named  # noqa: F401 - made is a fixture

FOREIGN = "Dear all,\nthis is no file of chebnet2d.\n"


@pytest.mark.parametrize("one", FILES, ids=named)
def test_a_file_of_others_is_left_alone(one, made, tmp_path):  # noqa: F811
    target = tmp_path / one.name
    target.write_text(FOREIGN)
    done = run(*one.arguments(target, made), code=2)
    assert f"{one.flag} must be " in done.stderr
    assert ("It is replaced with --force." in done.stderr) == one.force
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {one.name: FOREIGN}, "nor is anything beside it"


QUICK_ONES = [one for one in FILES if not one.command.startswith("theory")]


@pytest.mark.parametrize("one", QUICK_ONES, ids=named)
def test_what_a_command_wrote_it_writes_again(one, made, tmp_path):  # noqa: F811
    target = tmp_path / one.name
    if one.force:
        target.write_text(FOREIGN)
        run(*one.arguments(target, made), "--force")
        assert not target.read_bytes().startswith(FOREIGN.encode())
        assert target.stat().st_mode & 0o777 == 0o666 & ~umask()
    for _ in range(2):
        run(*one.arguments(target, made))


@pytest.mark.parametrize("one", FOLDERS, ids=named)
def test_a_folder_of_others_is_left_alone(one, made, tmp_path):  # noqa: F811
    target = tmp_path / one.name
    target.mkdir()
    (target / "letter.txt").write_text(FOREIGN)
    sentence = run(*one.arguments(target, made), code=2).stderr
    assert f"{one.flag} must be a new or empty folder" in sentence or f"{target} must be a new or empty folder" in sentence
    assert [path.name for path in target.iterdir()] == ["letter.txt"]
    assert (target / "letter.txt").read_text() == FOREIGN


def test_the_lists_have_every_flag_that_names_what_is_written():
    flags = {"--out", "--save", "--store", "--storage", "--log", "--plot"}
    known = {(one.command, one.flag) for one in [*FILES, *FOLDERS]}
    for name, command in _commands(typer.main.get_command(app)):
        for option in command.params:
            written = flags & set(option.opts) and not (option.opts[0] == "--store" and name != "study run")
            assert not written or any(text.startswith(name) and flag == option.opts[0] for text, flag in known), option.opts


def _commands(group, path=()):
    for name, command in group.commands.items():
        yield from _commands(command, (*path, name)) if hasattr(command, "commands") else [(" ".join((*path, name)), command)]


def umask():
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask
