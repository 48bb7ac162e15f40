"""Time and size of reports: ``python benchmarks/report.py [--study FILE ...] [--dataset digits chameleon]``.

``--page report.html --picture FILE.png`` draws the beginning of a report by Chromium instead, for a page of the documents.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import chebnet2d


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", nargs="*", default=["digits"])
    parser.add_argument("--study", nargs="*", type=Path, default=sorted(Path("results").glob("*.parquet")))
    parser.add_argument("--epochs", type=int, default=2000)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--picture", type=Path, default=Path("report.png"))
    arguments = parser.parse_args()
    if arguments.page is not None:
        draw(arguments.page.absolute(), arguments.picture)
        return
    with tempfile.TemporaryDirectory() as folder:
        print("| report | seconds | MB |\n|---|---|---|")
        for name in arguments.dataset:
            data = chebnet2d.data.load(name)
            model = chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), dropout=0.5)
            result = chebnet2d.fit(model, data, chebnet2d.data.split(data, "uniform", seed=0), seed=0, epochs=arguments.epochs)
            facts = {"method": "chebnet2d", "dataset": name, **result.to_record()}
            chebnet2d.save(model, Path(folder) / name, facts=facts)
            timed(f"model, {name}", Path(folder) / name, data, Path(folder) / f"{name}.html")
        for study in arguments.study:
            timed(f"study, {study.name}", study, None, Path(folder) / f"{study.stem}.html")


def timed(title: str, subject: Path, data: object, out: Path) -> None:
    """The second of two calls: the first one loads matplotlib and its fonts."""
    for _ in range(2):
        before = time.perf_counter()
        chebnet2d.report(subject, data, out=out, force=True)
        seconds = time.perf_counter() - before
    print(f"| {title} | {seconds:.1f} | {out.stat().st_size / 1e6:.2f} |")


def draw(page: Path, picture: Path) -> None:
    """The beginning of a page, as a window shows it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1120, "height": 800}, color_scheme="light")
        opened.goto(page.as_uri())
        opened.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
