"""What is checked of the built site: it fetches nothing from elsewhere, and every picture has words beside it.

Invariant: links that a reader clicks may lead anywhere; what a page loads by itself lies in the site.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

# Attributes by which a page fetches something by itself.
FETCHES = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
}
LINKS = {
    "stylesheet",
    "preload",
    "modulepreload",
    "preconnect",
    "dns-prefetch",
    "prefetch",
    "icon",
    "manifest",
}
_ELSEWHERE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.I)
_IN_STYLES = re.compile(r"@import\s+(?:url\()?\s*['\"]?([^'\")\s;]+)|url\(\s*['\"]?([^'\")]+)", re.I)


class _Page(HTMLParser):
    """What one page fetches, and its pictures without words."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.wordless: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.fetched += [given[name] for name in FETCHES.get(tag, ()) if name in given]
        if tag == "link" and LINKS & set(given.get("rel", "").lower().split()):
            self.fetched.append(given.get("href", ""))
        if tag == "img" and not given.get("alt", "").strip():
            self.wordless.append(given.get("src", ""))
        self.fetched += _in_style(given.get("style", ""))
        self._style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._style:
            self.fetched += _in_style(data)


def trouble(site: Path) -> list[str]:
    """Return what is wrong with a built site, a line each.

    Args:
        site: its folder.
    """
    found = []
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if path.suffix == ".html":
            page = _Page()
            page.feed(path.read_text(encoding="utf-8"))
            found += [f"{name} fetches {url}" for url in page.fetched if _ELSEWHERE.match(url)]
            found += [f"{name} has a picture without words: {src}" for src in page.wordless]
        elif path.suffix in (".css", ".svg"):
            urls = _in_style(path.read_text(encoding="utf-8"))
            found += [f"{name} fetches {url}" for url in urls if _ELSEWHERE.match(url)]
    if not (site / "index.html").is_file():
        found.append("there is no index.html")
    return found


def _in_style(text: str) -> list[str]:
    return [one or other for one, other in _IN_STYLES.findall(text)]
