"""The front page is one page, and links lead somewhere."""

import re

from page_pieces import PAGES, ROOT


def test_the_front_page_is_one_page():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    first = "\n".join(lines[:25])
    assert "$ make demo" in first
    assert "](docs/filters.png)" in first


def test_links_between_pages_lead_somewhere():
    """On a code host; the site's builder looks at its own."""
    pages = {*PAGES.values(), *ROOT.glob("*.md")}
    links = [(page, target) for page in pages for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))]
    files = [(page, target) for page, target in links if "://" not in target]
    assert [f"{page.name}: {target}" for page, target in files if not (page.parent / target).exists()] == []
