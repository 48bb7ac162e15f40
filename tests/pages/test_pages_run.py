"""Every page is followed from top to bottom: each command and each block of code on it runs, by the rules of ``page_rules``."""

import re
import shutil
import sys

import pytest

from data_root import find_data_root
from page_pieces import PAGES, commands, read_pieces
from page_rules import CODE, ELSEWHERE, FLAGS, NOT_RUN, TEXTS, reason, slow
from sandbox import forked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are followed in forked processes")
REAL = r"\b(cora|texas|chameleon|photo|pubmed)\b"


def _to_run(page, with_slow):
    """Whether there is something to run."""
    pieces = read_pieces(page.read_text(encoding="utf-8"))
    commands_to_run = [piece for piece in pieces if piece.language == "console" and reason(piece.text) is None]
    if with_slow:
        return any(slow(piece.text) for piece in commands_to_run)
    return len(commands_to_run) > 0 or any(piece.language in ("python", "pycon", "toml") for piece in pieces)


FOLLOWED = [name for name, page in PAGES.items() if _to_run(page, False)]
SLOW_PAGES = [pytest.param(name, marks=pytest.mark.slow) for name, page in PAGES.items() if _to_run(page, True)]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The reader's files; importing what pages use here makes the forked processes cheap."""
    import optuna  # noqa: F401
    import pandas as pd  # noqa: F401
    import sklearn.model_selection  # noqa: F401

    import page_session  # noqa: F401
    from readers_files import write_readers_files

    folder = tmp_path_factory.mktemp("reader") / "files"
    folder.mkdir()
    write_readers_files(folder, find_data_root())
    return folder


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_page_runs_from_top_to_bottom(name, template, tmp_path):
    _follow_in_a_fork(name, template, tmp_path, with_slow=False)


@pytest.mark.parametrize("name", SLOW_PAGES)
def test_a_page_with_what_takes_minutes_runs(name, template, tmp_path):
    _follow_in_a_fork(name, template, tmp_path, with_slow=True)


def _follow_in_a_fork(name, template, tmp_path, with_slow):
    from page_session import follow

    page = PAGES[name]
    if find_data_root() is None and re.search(REAL, page.read_text(encoding="utf-8")):
        pytest.skip("no real datasets: set CHEBNET2D_DATA to their folder")
    folder = shutil.copytree(template, tmp_path / "reader", symlinks=True)
    end = forked(tmp_path, lambda: follow(name, page, folder, with_slow=with_slow), seconds=900 if with_slow else 300)
    assert (end.code, end.signal) == (0, 0), end.text


def test_every_rule_is_of_use():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES.values())
    found = [piece.text for page in PAGES.values() for piece in commands(page)]
    assert [long for long in (*CODE, *TEXTS) if long not in text] == []
    assert [pattern for pattern in FLAGS if not any(re.match(pattern, command) for command in found)] == []
    assert {reason(command) for command in found} == {None, *NOT_RUN.values()}
    assert SLOW_PAGES
    assert len([command for command in found if reason(command) is None]) > 60
    for command, name in ELSEWHERE.items():
        assert command in [piece.text for piece in commands(PAGES[name])], "it is run where it is said to be"
