"""What a page gives its reader to run: blocks between fences and commands within sentences, in the order of the page."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page
    for page in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "results").glob("*.md")),
    )
}
PROGRAMS = ("chebnet2d ", "make ", "python ", "torchrun ", "pip ", ".venv/bin/")
FENCE = re.compile(r"^```(\S*) ?(\S*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")
COMMENT = re.compile(r"\s+#.*")
FILE = re.compile(r"`([\w./-]+\.(?:toml|csv|py))`")
SUFFIXES = {"toml": ".toml", "csv": ".csv", "{code-cell}": ".py"}


@dataclass(frozen=True)
class Piece:
    """A command, or the whole text of a block; ``file`` is the one that the words above a block name."""

    line: int
    language: str
    text: str
    file: str | None = None


def read_pieces(text: str) -> list[Piece]:
    found, end = [], 0
    for block in FENCE.finditer(text):
        before = text[end : block.start()]
        found += _spans(before, text.count("\n", 0, end) + 1)
        line = text.count("\n", 0, block.start()) + 2
        language = block[1] or "console"
        if language in ("console", "bash", "sh"):
            found += _commands(block[3], line)
        else:
            above = before.strip().rsplit("\n\n", 1)[-1]
            named = [file for file in FILE.findall(above) if file.endswith(SUFFIXES.get(language, "/"))]
            found.append(Piece(line, language, block[3], named[-1] if named else None))
        end = block.end()
    return found + _spans(text[end:], text.count("\n", 0, end) + 1)


def _commands(block: str, line: int) -> list[Piece]:
    lines = re.sub(r" *\\\n\s*", " ", block).splitlines()
    texts = [COMMENT.sub("", words.removeprefix("$ ")).strip() for words in lines]
    return [Piece(line, "console", text) for text in texts if text.startswith(PROGRAMS)]


def _spans(text: str, line: int) -> list[Piece]:
    """Commands within sentences. In a table a bar is written with a backslash."""
    found = []
    for span in SPAN.finditer(text):
        words = " ".join(span[1].replace("\\|", "|").split())
        if words.startswith(PROGRAMS):
            found.append(Piece(line + text.count("\n", 0, span.start()), "console", words))
    return found


def commands(page: Path) -> list[Piece]:
    return [piece for piece in read_pieces(page.read_text(encoding="utf-8")) if piece.language == "console"]
