"""A page is followed from top to bottom in one folder, as a reader would: files are written, commands and code are run."""

import doctest
import io
import os
import re
import shlex
import tempfile
import tomllib
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from cli_runner import run
from page_pieces import Piece, read_pieces
from page_rules import ELSEWHERE, reason, shortened, shortened_code, slow


def follow(name: str, page: Path, folder: Path, *, with_slow: bool) -> None:
    """Run in a process of its own: registries, the working folder and variables of the environment are changed."""
    os.chdir(folder)
    folders = {"CHEBNET2D_DATA": "data", "CHEBNET2D_CACHE": "cache", "TORCHINDUCTOR_CACHE_DIR": "cache/inductor", "TMPDIR": "."}
    os.environ.update({name: str(folder / path) for name, path in folders.items()})
    tempfile.tempdir = None
    names: dict[str, Any] = {"__name__": "page"}
    done: set[str] = set()
    for piece in read_pieces(page.read_text(encoding="utf-8")):
        if piece.language == "console" and (piece.text in done or (slow(piece.text) and not with_slow)):
            continue
        done.add(piece.text)
        try:
            _follow(name, piece, names)
        except BaseException as error:
            error.add_note(f"{name}, line {piece.line}: {piece.text.splitlines()[0]}")
            raise
        plt.close("all")


def _follow(page: str, piece: Piece, names: dict[str, Any]) -> None:
    code = shortened_code(piece.text)
    if piece.file is not None:
        path = Path(piece.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub(r"^%.*\n", "", code), encoding="utf-8")  # of a notebook
    if piece.language == "console":
        if reason(piece.text) is None and ELSEWHERE.get(piece.text, page) == page:
            for command in _recipe(piece.text):
                run(*shlex.split(shortened(command))[1:])
    elif piece.language == "python":
        with redirect_stdout(io.StringIO()):
            exec(compile(code, f"{page}:{piece.line}", "exec"), names)
    elif piece.language == "pycon":
        examples = doctest.DocTestParser().get_doctest(code, names, page, None, 0)
        said = io.StringIO()
        assert doctest.DocTestRunner().run(examples, out=said.write, clear_globs=False).failed == 0, said.getvalue()
        names.update(examples.globs)
    elif piece.language == "toml":
        tomllib.loads(code)


def _recipe(command: str) -> list[str]:
    """The commands of a target of the Makefile; any other command is itself."""
    if not command.startswith("make "):
        return [command]
    target = command.split()[1]
    (recipe,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", Path("Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    return [line.strip().removeprefix("$(BIN)/") for line in recipe.splitlines()]
