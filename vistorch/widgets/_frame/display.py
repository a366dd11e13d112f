"""One record on its way to the screen: text, a picture, a page that works without a kernel.

A bundle is made when a front end asks for it, and each layer once. Invariant: a display holds a record, never a
tensor, and how many are kept for `%vt export` is bounded.
"""

from __future__ import annotations

import base64
import inspect
from collections import OrderedDict
from html import escape
from typing import Any

from . import standalone, wire
from .kinds import painter

KEPT = 16
ALT = 120  # letters that name a picture
STILL = {"image/png": 12_000, "image/svg+xml": 24_000}  # bytes of a picture that also stands inside the HTML


class Display:
    """What a cell shows of a record.

    Args:
        record: `kind`, `text()` and `wire()`; nothing more is asked of it.
        name: what `%vt export --name` finds it by.
    """

    def __init__(self, record: Any, name: str = "") -> None:
        self.record = record
        self.name = name
        self._layers: dict[str, Any] = {}

    def _layer(self, key: str, make: Any) -> Any:
        if key not in self._layers:
            self._layers[key] = make()
        return self._layers[key]

    def text(self) -> str:
        """The record as text."""
        return self._layer("text", self.record.text)

    def state(self) -> dict[str, Any]:
        """The record's numbers and arrays, as they travel."""
        return self._layer("state", self.record.wire)

    def payload(self) -> bytes:
        """The packed record, as a widget gets it."""
        return wire.pack(self.record.kind, self.state())

    def picture(self, theme: str = "light") -> tuple[str, bytes]:
        """The picture's type and bytes."""
        module = painter(self.record.kind)
        return module.MIME, self._layer(f"picture {theme}", lambda: module.paint(self.record, theme))

    def png(self, theme: str = "light") -> bytes:
        """The picture as PNG; kinds that are drawn as SVG have none."""
        mime, data = self.picture(theme)
        if mime != "image/png":
            raise ValueError(
                f"a display of kind '{self.record.kind}' is drawn as SVG: export it to a .svg or .html file"
            )
        return data

    def svg(self, theme: str = "light") -> str:
        """The picture as an SVG drawing with its names and its legend."""
        mime, data = self.picture(theme)
        return (
            data if mime == "image/svg+xml" else painter(self.record.kind).svg(self.record, theme)
        ).decode()

    def still(self) -> dict[str, Any]:
        """The layers that need no page: text and picture, as they stand in a notebook."""
        mime, data = self.picture()
        return {
            "text/plain": self.text(),
            mime: base64.b64encode(data).decode() if mime == "image/png" else data.decode(),
        }

    def html(self, live: bool = False) -> str:
        """The page with all that it needs, as one piece of HTML.

        Args:
            live: whether a view in the kernel may answer it.
        """
        return self._layer("live html", lambda: self._html(True)) if live else self._layer("html", self._html)

    def key(self) -> str:
        """What the page of a live view and its model find each other by."""
        return self._layer("key", lambda: standalone.key_of(self.record.kind, self._carried()[0]))

    def _html(self, live: bool = False) -> str:
        # JupyterLab shows what is not trusted as this HTML without its scripts, and not as the picture beside it.
        mime, data = self.picture()
        module = painter(self.record.kind)
        if len(data) > STILL[mime] and "small" in inspect.signature(module.paint).parameters:
            data = module.paint(self.record, "light", small=True)
        still = ""
        if len(data) <= STILL[mime]:
            off = 'class="vistorch-off" style="max-width:100%"'
            still = f'<img {off} alt="{escape(self.alt())}" src="{_address(mime, data)}">'
        return self._fragment(still, live)

    def alt(self) -> str:
        """What the picture is of, for who cannot see it: its title, or the first line of its text."""
        said = str(self.state().get("title") or self.name or self.text()).strip().partition("\n")[0]
        return f"picture of {said[:ALT] or self.record.kind}"

    def _carried(self) -> tuple[bytes, str]:
        """The record as the HTML carries it, and its text, which stands in the HTML itself."""
        state = dict(self.state())
        text = state.pop("text", "")
        return wire.pack(self.record.kind, state), text

    def _fragment(self, instead: str, live: bool = False) -> str:
        """The page with the text above it, or in its place where the page says all that the text does."""
        payload, text = self._carried()
        if getattr(self.record, "replaces_text", False):
            instead = standalone.printed(text or self.state()["report"], "vistorch-off") + instead
            text = ""
        return standalone.fragment(self.record.kind, payload, text, instead, live)

    def document(self) -> str:
        """A whole HTML file, with the picture for readers without scripts."""
        still = f'<img alt="{escape(self.alt())}" src="{_address(*self.picture())}">'
        page = self._fragment(f"<noscript>{still}</noscript>")
        return standalone.document(self.name or str(self.state().get("title") or "vistorch"), page)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        shown.add(self)
        bundle = self.still()
        try:
            bundle["text/html"] = self.html()
        except FileNotFoundError:  # no page was built: the picture is what there is
            pass
        return bundle


def _address(mime: str, data: bytes) -> str:
    """A picture as an address that fetches nothing."""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


class Shown:
    """The displays of late, newest last, by name where they have one."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self._of_late: OrderedDict[int, Any] = OrderedDict()

    def add(self, display: Any) -> None:
        """Remember a display; the oldest is let go."""
        self._of_late.pop(id(display), None)
        self._of_late[id(display)] = display
        while len(self._of_late) > self.kept:
            self._of_late.popitem(last=False)

    @property
    def last(self) -> Any:
        """The newest display, or None."""
        return next(reversed(self._of_late.values()), None)

    def find(self, name: str) -> Any:
        """The newest display of that name, or None."""
        return next((one for one in reversed(self._of_late.values()) if one.name == name), None)

    def names(self) -> list[str]:
        """The names that `find` knows, newest first."""
        return list(dict.fromkeys(one.name for one in reversed(self._of_late.values()) if one.name))

    def clear(self) -> None:
        """Let all go."""
        self._of_late.clear()


shown = Shown()
