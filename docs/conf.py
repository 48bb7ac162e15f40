"""The site: Markdown pages of docs/ and results/, tutorials that run, and the reference from docstrings (`make site`).

The source folder is the root of the repository, so that links between pages are those that a code host follows too.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "src")]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])  # of notebooks
os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"  # tqdm misses a widget in notebooks
os.environ.setdefault("OMP_NUM_THREADS", "1")  # they run side by side

from nbclient import NotebookClient  # noqa: E402
from pygments.lexers.special import TextLexer  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

from chebnet2d._version import __version__  # noqa: E402

project = "chebnet2d"
author = "the chebnet2d developers"
copyright = "the chebnet2d developers, MIT licence"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "plain_docstrings"]
root_doc = "docs/index"
include_patterns = ["docs/**", "results/*.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"]
exclude_patterns = ["docs/_*"]
nitpicky = False  # annotations name classes of torch, whose inventory would need the network

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_dmath_double_inline = True
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a page of results may begin its sections one level lower

nb_execution_mode = "force"  # a cache would not see that src/ has changed
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # of a cell, in seconds: each takes a few on a quiet machine
nb_execution_excludepatterns = ["README.md"]
nb_output_stderr = "remove-warn"  # a notebook that complains does not pass, and shows no paths of this machine
NotebookClient.startup_timeout.default_value = 600  # a busy machine takes more than a minute to import torch

autodoc_typehints = "signature"
autodoc_inherit_docstrings = False  # torch says of every forward what a forward is
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_mock_imports = ["ray"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # an attribute in the text of a class and a property of that name are one thing
python_maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"chebnet2d {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["formulas.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
templates_path = ["_templates"]
html_additional_pages = {"index": "to-start.html"}


def setup(app: Sphinx) -> None:
    app.add_lexer("csv", TextLexer)  # code hosts know tables; pygments does not
