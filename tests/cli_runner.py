"""The command line in this process."""

import contextlib
import io
import sys
from dataclasses import dataclass

import pytest

from chebnet2d.cli import main


@dataclass
class Done:
    code: int
    stdout: str
    stderr: str


def run(*arguments, code=0):
    """The command in this process: what ``chebnet2d ARGUMENTS`` prints and returns."""
    out, err = io.StringIO(), io.StringIO()
    exit_code = 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["chebnet2d", *map(str, arguments)])
        try:
            main()
        except SystemExit as stop:
            exit_code = stop.code or 0
    done = Done(exit_code, out.getvalue(), err.getvalue())
    assert code is None or done.code == code, done
    assert "Traceback" not in done.stderr
    return done
