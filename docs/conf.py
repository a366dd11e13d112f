"""Settings of Sphinx for the site; `python -m docs.making` (or `make docs`) calls it.

Invariant: a built page fetches nothing from elsewhere: the theme has no fonts of its own, formulas are MathML.
"""

import sys
from pathlib import Path

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import vistorch  # after the path: the checkout's own

project = "vistorch"
author = "The vistorch authors"
copyright = "the vistorch authors"
version = release = vistorch.__version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
highlight_language = "python"

html_theme = "furo"
html_title = "vistorch"
html_static_path = ["looks"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_search_summary = False  # it fetches whole pages, which a browser refuses a page opened as a file
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": True}


def _inline(self, node):
    self.body.append(_mathml(self, node, False))
    raise _skip()


def _block(self, node):
    self.body.append(f'<div class="math">{_mathml(self, node, True)}</div>')
    raise _skip()


def _mathml(self, node, block):
    """Return a formula as MathML, which browsers draw themselves."""
    try:
        return tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        from sphinx.util import logging

        logging.getLogger(__name__).warning("a formula cannot be set: %s", error, location=node)
        return f"<code>{self.encode(node.astext())}</code>"


def _skip():
    from docutils import nodes

    return nodes.SkipNode()


def setup(app):
    """Add the way formulas are set."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
