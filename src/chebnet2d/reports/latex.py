"""A table in LaTeX, ready to print: a float with caption, label and legend in the style of booktabs.

It needs ``\\usepackage{booktabs,graphicx}``, and ``[T1]{fontenc}`` for names with letters beyond ASCII.
"""

import re

from chebnet2d.reports.scores import first_and_others, title_of
from chebnet2d.reports.tables import Cell, Table

WIDEST = 5
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "-": "-{}",  # two of them are no dash
    **{letter: f"{{{letter}}}" for letter in "[]*"},  # the first of a row would be an argument of the line break before it
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Any text, so that LaTeX prints it as it is."""
    return "".join(_ESCAPES.get(letter, letter) for letter in re.sub(r"\s", " ", text))


def latex_table(table: Table) -> str:
    """At most five datasets side by side, as many as stay readable on a page; the others below them."""
    count = -(-len(table.datasets) // WIDEST)
    size = -(-len(table.datasets) // max(count, 1))
    blocks = [table.datasets[start : start + size] for start in range(0, len(table.datasets), size)] if size else [()]
    caption = f"Test {table.metric} in percent on {first_and_others(table.splits)} splits"
    lines = [
        r"% \usepackage{booktabs,graphicx}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{escaped(caption)}.}}",
        rf"\label{{tab:{_label(table)}}}",
        "\n\\par\\medskip\n".join(_tabular(table, block, ranks=block == blocks[-1]) for block in blocks),
        r"\par\smallskip",
        rf"{{\footnotesize {_legend(table)}\par}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _tabular(table: Table, datasets: tuple[str, ...], *, ranks: bool) -> str:
    """Methods against some datasets. Only what is too wide for the page is made smaller."""
    ranks = ranks and bool(table.ranks)
    columns = ["Method", *datasets, *(["Rank"] if ranks else [])]
    rows = []
    for method in table.methods:
        cells = [table.cells.get((method, dataset)) for dataset in datasets]
        rank = [f"{table.ranks[method]:.2f}"] if ranks else []
        rows.append(" & ".join([escaped(title_of(method)), *("" if cell is None else _cell(cell) for cell in cells), *rank]))
    lines = [
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{l{'c' * (len(columns) - 1)}}}",
        r"\toprule",
        " & ".join(escaped(name) for name in columns) + r" \\",
        r"\midrule",
        *(f"{row} \\\\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    """``\\textbf`` does not reach into formulas, so bold is that of formulas."""
    summary = cell.summary
    text = cell.no_number
    if summary.runs:
        half = "" if summary.splits < 2 else rf" \pm {100 * summary.half_width:.2f}"
        number = f"{100 * summary.mean:.2f}{half}"
        number = rf"\mathbf{{{number}}}" if cell.rank == 1 else number
        text = f"${number}" + (r"^{\circ}$" if cell.level_with_best else "$")
        text = rf"\underline{{{text}}}" if cell.rank == 2 else text
    text += escaped(f" [{cell.left_out}]") if cell.left_out else ""
    return text if cell.published is None else rf"{text} {{\scriptsize({cell.published:.2f})}}"


def _legend(table: Table) -> str:
    cells = list(table.cells.values())
    parts = [r"Mean $\pm$ half the 95\,\% interval with the correction for overlapping splits"]
    if cells:
        parts.append(f"{cells[0].runs} runs on {cells[0].summary.splits} splits per cell")
    parts.append(r"\textbf{best}, \underline{second}, $^{\circ}$ not significantly worse than the best (5\,\%)")
    if any(cell.published is not None for cell in cells):
        parts.append("in parentheses: the paper's number")
    if table.ranks:
        parts.append("rank: mean over the datasets, ties share theirs")
    return "; ".join(parts) + "."


def _label(table: Table) -> str:
    """Of letters that are safe in a label."""
    return re.sub(r"[^a-z0-9]+", "-", f"{table.split} {len(table.methods)} methods".lower()).strip("-")
