"""From values to a file: templates that escape everything, one style sheet, one script, and a policy that forbids all else."""

import base64
import hashlib
import itertools
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from chebnet2d._targets import Mark, check_target, written_whole
from chebnet2d._version import __version__

_MARKS = (Mark(b"<!doctype html>", b'<meta name="generator" content="chebnet2d'),)


def check_report_file(out: Path, keep: Sequence[Path | None] = (), *, force: bool = False, owner: str = "report") -> None:
    """Before the work: whether the page can be written there."""
    check_target(owner, "out", out, keep=keep, marks=_MARKS, force=force)


def render(template: str, **values: Any) -> str:
    """A page. What is not in ``templates`` is escaped, wherever it comes from."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("chebnet2d.html_reports")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    counter = itertools.count(1)
    environment.globals["new_id"] = lambda: f"part-{next(counter)}"
    style, script = (_read(name) for name in ("style.css", "page.js"))
    # The browser itself sees to it that nothing else runs and that no request leaves the page.
    policy = f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'"
    own = {"style": Markup(style), "script": Markup(script), "policy": policy, "version": __version__}
    return environment.get_template(template).render(**own, **values)


def write(text: str, out: Path) -> None:
    with written_whole(out) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _read(name: str) -> str:
    return files("chebnet2d.html_reports").joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
