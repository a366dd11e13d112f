"""Settings of Sphinx for the site; `python -m docs.making` (or `make docs`) calls it.

Invariant: a built page fetches nothing from elsewhere: the theme has no fonts of its own, formulas are MathML.
"""

import re
import sys
from html import escape
from pathlib import Path

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import vistorch  # noqa: E402 - after the path, it is the checkout's own

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
# An argument on each line where they do not fit into one.
maximum_signature_line_length = 88
toc_object_entries = False  # the headings are there
# The heading of an entry and the object below it have one name; a link may lead to either.
suppress_warnings = ["myst.xref_ambiguous"]


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


LISTING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{name} - vistorch</title>
<style>
body {{ margin: 1rem; font-family: system-ui, sans-serif; }}
pre {{ counter-reset: line; line-height: 1.35; }}
pre span::before {{
  counter-increment: line; content: counter(line); display: inline-block; width: 2.5rem; opacity: 0.5;
}}
pre span:target {{ background: light-dark(#fff3b0, #4d4518); scroll-margin-top: 6rem; }}
</style></head>
<body><p><a href="{up}reference/index.html">Reference</a></p><h1>{name}</h1>
<pre>{rows}</pre></body></html>
"""


def _listings(app, error):
    """Write each source file that the reference links to, with lines to be linked to.

    Not by the theme: it would put the whole tree of pages beside each of hundreds of files.
    """
    if error or app.builder.name != "html":
        return
    linked = set()
    for path in Path(app.srcdir, "reference").glob("*.md"):
        linked |= set(re.findall(r"/_modules/([\w/]+)\.html#", path.read_text(encoding="utf-8")))
    for name in sorted(linked):
        lines = (ROOT / f"{name}.py").read_text(encoding="utf-8").splitlines()
        rows = "\n".join(f'<span id="line-{n}">{escape(line)}</span>' for n, line in enumerate(lines, 1))
        page = Path(app.outdir, "_modules", f"{name}.html")
        page.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (name.count("/") + 1)
        page.write_text(LISTING.format(name=f"{name}.py", up=up, rows=rows), encoding="utf-8")


def _language(app, pagename, templatename, context, doctree):
    """Say which language a page is in: a browser picks the forms of Chinese characters by it."""
    if pagename.startswith("zh/"):
        context["language"] = "zh-CN"


def setup(app):
    """Add the way formulas are set, and the pages of source code."""
    app.connect("html-page-context", _language)
    app.connect("build-finished", _listings)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
