"""Reports in a browser: what can be clicked, typed and read aloud, and that nothing is asked for from elsewhere."""

from contextlib import contextmanager

import pytest

from browser import Visit
from hostile_graph import CLASSES


@contextmanager
def visit(chromium, path, **options):
    opened = Visit(chromium, path, **options)
    try:
        yield opened
        assert opened.complaints == []
        assert opened.requests_elsewhere == []
    finally:
        opened.close()


@pytest.mark.parametrize("name", ["model_page", "study_page", "explained_page"])
def test_rules_of_accessibility_in_both_themes(chromium, request, name):
    with visit(chromium, request.getfixturevalue(name), color_scheme="light") as opened:
        opened.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert opened.broken_rules() == []
        opened.page.get_by_label("Theme").select_option("dark")
        assert opened.broken_rules("color-contrast") == []
        images = opened.page.evaluate("[...document.images].map(image => image.naturalWidth > 50 && image.alt.length > 10)")
        assert images
        assert all(images)


def test_a_study_sorts_filters_and_tells(chromium, study_page):
    with visit(chromium, study_page) as opened:
        page = opened.page
        table = page.locator("section:has(#split-1) table").first
        head = table.locator("thead th").nth(1)
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        means = [float(text.split()[0]) for text in opened.column(table, 1)]
        assert means == sorted(means, reverse=True)
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        assert [float(text.split()[0]) for text in opened.column(table, 1)] == sorted(means)

        grid = page.locator(".grid").first
        grid.get_by_label("Rows with").fill("GPR")
        assert opened.column(table, 0) == ["GPRGNN"]
        grid.get_by_label("Columns with").fill("dig")
        assert table.locator("thead th:visible").all_inner_texts() == ["method", "digits"]
        assert grid.get_by_role("status").inner_text() == "1 of 3 rows, 1 of 3 columns"
        grid.get_by_label("Rows with").fill("")
        grid.get_by_label("Columns with").fill("")
        assert len(opened.column(table, 0)) == 3

        cell = table.locator("tbody .tipped").first
        cell.focus()
        tip = page.locator(".tip:visible")
        for word in ("split", "uniform, 3 of them, seeds 0 to 2", "settings.lr", "origin"):
            assert word in tip.inner_text()
        assert tip.get_attribute("id") == cell.get_attribute("aria-describedby")
        page.keyboard.press("Escape")
        assert tip.count() == 0
        cell.hover()
        tip.wait_for(state="visible")


def test_markup_of_users_stays_text(chromium, model_page):
    with visit(chromium, model_page) as opened:
        page = opened.page
        page.on("dialog", lambda dialog: pytest.fail("a script of the user's ran"))
        assert page.locator("h1").inner_text() == "chebnet2d on <img src=x>"
        assert opened.column(page.locator("section:has(#classes) table").first, 0) == sorted(CLASSES)
        assert page.locator("main script, main b, main i, main [onclick]").count() == 0
        assert page.evaluate("document.scripts.length") == 1


def test_the_theme_is_chosen_and_kept(chromium, model_page):
    with visit(chromium, model_page, color_scheme="light") as opened:
        page = opened.page
        back = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(back)
        page.get_by_label("Theme").select_option("dark")
        dark = page.evaluate(back)
        assert light != dark
        page.reload()
        assert page.evaluate(back) == dark
        page.emulate_media(media="print")
        assert page.evaluate(back) == "rgb(255, 255, 255)"
        assert not page.locator("nav").is_visible()
        page.emulate_media(media="screen")
        page.get_by_label("Theme").select_option("light")
        assert page.evaluate(back) == light


@pytest.mark.parametrize("name", ["model_page", "study_page"])
def test_on_a_telephone_only_tables_and_pictures_scroll_sideways(chromium, request, name):
    with visit(chromium, request.getfixturevalue(name)) as opened:
        opened.page.set_viewport_size({"width": 360, "height": 700})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
        letters = "[...document.querySelectorAll('.broad img')].every(image => image.width == image.getAttribute('width'))"
        assert opened.page.evaluate(letters), "letters of pictures stay as large as they are"
