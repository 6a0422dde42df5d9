"""Sphinx's configuration. build.sh runs it over the pages and what generate.py has made beside them."""
import os
import re
import sys

from pygments.lexers.special import TextLexer

SOURCE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(SOURCE))
sys.path.insert(0, SOURCE)
import relay_lexer  # noqa: E402

with open(os.path.join(TREE, "CMakeLists.txt")) as f:
    release = version = re.search(r"project\(relayvm VERSION ([\d.]+)", f.read()).group(1)
project = "relayvm"
copyright = "the authors of relayvm; Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "docstrings"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["tree"]
nitpicky = True
# Bases and annotations of the package that have no page of their own.
nitpick_ignore_regex = [("py:.*", r"(relayvm|numpy|np|typing|collections|os)\b.*")]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
highlight_language = "text"
smartquotes = False  # code in tables keeps its quotes
autodoc_member_order = "bysource"

html_theme = "alabaster"
html_title = f"relayvm {version}"
html_theme_options = {
    "description": "A compiler and a virtual machine for Relay",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "sidebar_width": "250px",
    "font_family": "system-ui, sans-serif",
    "font_size": "16px",
    "show_powered_by": False,
    "show_relbars": True,
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = os.path.join(SOURCE, "scorer.js")
html_copy_source = False
html_show_sphinx = False


def setup(app):
    # What a block prints has a language of its own, for run_pages.py to compare.
    app.add_lexer("output", TextLexer)
    app.add_lexer("relay", relay_lexer.RelayLexer)
