"""Tables in LaTeX: what a strict reader asks for, and the compiler itself where there is one."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d.reports import format_table, make_table, make_tables
from chebnet2d.reports.latex import escaped
from table_rows import study_row

NAMES = [r"[a]_&%$#{}~^\<x>|", '* -- `q` "x"', "mlp", "x" * 60]
LAYOUT = {"begin", "end", "centering", "caption", "label", "resizebox", "ifdim", "width", "linewidth", "else", "fi"}
RULES = {"toprule", "midrule", "bottomrule", "par", "smallskip", "medskip", "footnotesize", "scriptsize"}
LETTERS = {"mathbf", "textbf", "underline", "pm", "circ", "textbackslash", "textasciitilde", "textasciicircum"}
COMMANDS = LAYOUT | RULES | LETTERS | {"textless", "textgreater", "textbar", "textasciigrave"}


def _rows(names, datasets):
    return [
        study_row(name, dataset, "uniform", None if number == 1 and seed == 2 else 0.5 + 0.1 * number + 0.01 * seed, seed)
        for number, name in enumerate(names)
        for dataset in datasets
        for seed in range(3)
    ]


def _check(text):
    """Braces, formulas and environments are closed in order, rows have as many cells as columns, commands are known."""
    source = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    bare = re.sub(r"\\[&%$#_{},\\]", " ", source)
    depth = 0
    for letter in bare:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    assert set(re.findall(r"\\([a-zA-Z]+)", source)) <= COMMANDS
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", source):
        assert kind == "begin" or opened.pop() == name
        opened += [name] if kind == "begin" else []
    assert not opened
    for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", source, flags=re.DOTALL):
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert lines
        assert all(len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1 for line in lines)
        assert not any(line.lstrip().startswith(("[", "*")) for line in lines), "an argument of the line break before it"
    unescaped = re.sub(r"\\.", "", "\n".join(line for line in source.splitlines() if line.endswith(r"\\")))
    assert not set("#~^_%") & set(re.sub(r"\^\{\}", "", unescaped.replace(r"^{", "{"))), "letters with a meaning of their own"


@pytest.mark.parametrize("count", [1, 5, 6, 11])
@pytest.mark.parametrize("published", [None, {"mlp": {"data_set-0": 50.0}}])
def test_a_strict_reader_is_content(count, published):
    table = make_table(_rows(NAMES, [f"data_set-{n}" for n in range(count)]), published)
    text = format_table(table, "latex")
    _check(text)
    assert text.count(r"\begin{tabular}") == -(-count // 5)
    assert text.count(r"\begin{table}") == text.count(r"\caption{") == text.count(r"\label{tab:uniform-4-methods}") == 1
    assert text.count(" & Rank ") == 1, "ranks once, beside the last datasets"
    assert text.count(r"$\mathbf{") == count, "the best of each dataset"
    assert ("the paper's number" in text) == (r"{\scriptsize(50.00)}" in text) == (published is not None)
    assert "diverged" in text


def test_tables_of_two_kinds_of_split_have_labels_of_their_own():
    rows = _rows(["mlp"], ["cora"])
    text = format_table(make_tables(rows + [row | {"split": "balanced"} for row in rows]), "latex")
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:uniform-1-methods", "tab:balanced-1-methods"]


@given(st.text())
def test_any_text_is_escaped(text):
    shown = escaped(text)
    bare = re.sub(r"\\[&%$#_{}]|\\text[a-z]+\{\}|-\{\}|\{[][*]\}", "", shown)
    assert not set(bare) & set("\\&%$#_{}~^<>|`[]*-\n")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_it_compiles(tmp_path):
    body = format_table(make_table(_rows(NAMES, [f"data_set-{n}" for n in range(7)])), "latex")
    head = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n"
    (tmp_path / "t.tex").write_text(f"{head}{body}\\end{{document}}\n")
    command = ["pdflatex", "-halt-on-error", "-draftmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout
