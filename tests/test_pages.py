"""Every block of Python on the pages runs, in a process of its own; long work is made short by the table below."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from data_root import real_data_root

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHORTER = {
    "seed=0)\n\nresult.test": "seed=0, epochs=20)\n\nresult.test",
    "settings=Settings.of(lr=0.01)": "settings=Settings.of(lr=0.01, epochs=5)",
    'budget="30s"': "budget=2, epochs=5, patience=5",
    '("cora", "texas"), inits=1': '("texas",), inits=1, splits=2, epochs=5',
    "seed=0), seed=0)": "seed=0), seed=0, epochs=5)",
}


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_blocks_run(page, tmp_path):
    code = "\n".join(blocks(page))
    environment = dict(os.environ)
    if re.search(r'"(cora|texas)"', code):
        environment["CHEBNET2D_DATA"] = str(real_data_root())
    for long, short in SHORTER.items():
        code = code.replace(long, short)
    script = tmp_path / "page.py"
    script.write_text(f"if __name__ == '__main__':\n{_indented(code)}", encoding="utf-8")
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_every_shortening_is_of_use():
    text = "\n".join(code for page in PAGES for code in blocks(page))
    assert [long for long in SHORTER if long not in text] == []


def _indented(code):
    return "".join(f"    {line}\n" for line in code.splitlines())
