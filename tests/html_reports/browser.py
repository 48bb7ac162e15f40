"""A page in headless Chromium: one browser for all tests, and what must hold of every page."""

import os
import shutil
from contextlib import contextmanager

import pytest

PATIENCE = 300_000  # milliseconds: a machine with much else to do is no fault of the page


def find_chromium():
    """$CHROMIUM, or what Debian and others call it."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser():
    """Of Playwright; a skipped test where there is no Chromium."""
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium: install it, or name it in CHROMIUM")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, timeout=PATIENCE, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


class Visit:
    """A page that is open, and everything that it complained of or asked for."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri(), timeout=PATIENCE)
        self.own = path.as_uri()

    def close(self):
        self.context.close()

    @property
    def requests_elsewhere(self):
        return [url for url in self.requests if url != self.own and not url.startswith("data:")]

    @staticmethod
    def column(table, number):
        """The shown words of a column; ``table``: a locator."""
        script = "(table, n) => [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[n].innerText.trim())"
        return table.evaluate(script, number)

    def broken_rules(self, *rules):
        """Of axe-core, with the places. ``rules``: these alone."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page, options={"runOnly": list(rules)} if rules else {}).response["violations"]
        return [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found]
