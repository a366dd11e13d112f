"""`python -m docs.making` builds the site into build/docs/html: warnings are errors, and nothing is fetched."""

from __future__ import annotations

import shutil
import sys
import time

from . import check, sources

BUILT = sources.ROOT / "build" / "docs"


def main() -> int:
    """Put the sources together, build, check; return an exit code."""
    try:
        from sphinx.cmd.build import main as sphinx
    except ImportError:
        print(
            "The site is built by Sphinx, which is not installed: pip install -e '.[docs]'", file=sys.stderr
        )
        return 2
    began = time.perf_counter()
    shutil.rmtree(BUILT / "html", ignore_errors=True)  # a page whose source is gone would stay
    sources.put_together(BUILT / "source")
    words = ["-b", "html", "-c", str(sources.ROOT / "docs"), "-W", "--keep-going", "-q", "-E", "-j", "2"]
    if code := sphinx([*words, "-d", str(BUILT / "doctrees"), str(BUILT / "source"), str(BUILT / "html")]):
        return code
    found = check.trouble(BUILT / "html")
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        pages = sum(1 for _ in (BUILT / "html").rglob("*.html"))
        print(f"{pages} pages in {time.perf_counter() - began:.0f} s: build/docs/html/index.html")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
