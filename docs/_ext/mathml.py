"""Formulas as MathML, which browsers draw by themselves: no font to load, no network."""

from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number


def visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_displayed(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math" title="{escape(node.astext().strip())}">')
    self.body.append(convert(node.astext(), display="block"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
