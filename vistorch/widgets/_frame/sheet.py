"""A finding as an SVG drawing: a head, a sentence with a bar at its left, lines and tables one below the other.

Invariant: every text is cleaned of what XML does not know and escaped, and nothing is wider than the sheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...debug.graph.words import cells, cut
from .ink import COLOURS, MONO, SANS, clean, number, tag, words
from .signs import MORE, SIGNS

WIDTH = 760
PAD = 12
LETTER = 7.25  # of the monospace at 12 px
SMALL = 6.65  # at 11 px
TEXT = 6.5  # of the sentence's letters, on the wide side


class Sheet:
    """A drawing that grows downwards.

    Args:
        theme: "light" or "dark".
        width: in pixels.
    """

    def __init__(self, theme: str, width: int = WIDTH) -> None:
        self.colour = {**COLOURS[theme], **MORE[theme]}
        self.width, self.y = width, 0.0
        self.parts: list[str] = []

    def add(self, *parts: str) -> None:
        """Draw something."""
        self.parts += [part for part in parts if part]

    def rule(self) -> None:
        """A line across."""
        self.add(tag("path", d=f"M0 {number(self.y + 0.5)}H{self.width}", stroke=self.colour["line"]))

    def head(self, title: str, facts: Sequence[str]) -> None:
        """The title, and facts beside it where there is room."""
        space = int((self.width - 2 * PAD) / 7.9)
        name = cut(title, space)
        inside = tag("tspan", clean(name), font_weight=600, font_size=13)
        aside = " · ".join(facts)
        if cells(name) * 7.9 + cells(aside) * 6.3 + 40 < self.width:
            inside += tag(
                "tspan", clean(aside), dx=10, font_size=11, font_family=SANS, fill=self.colour["ink2"]
            )
        self.add(tag("text", inside, x=PAD, y=24))
        self.y = 37
        self.rule()
        self.y = 38

    def verdict(self, text: str, bar: str = "edge", ground: str = "panel", most: int = 5) -> None:
        """The sentence."""
        lines = wrapped(text, int((self.width - 36) / 7.05), most)
        tall = 14 + 20 * len(lines)
        c = self.colour
        self.add(tag("rect", x=1, y=self.y, width=self.width - 2, height=tall, fill=c[ground]))
        self.add(tag("rect", x=1, y=self.y, width=4, height=tall, fill=c[bar]))
        for i, line in enumerate(lines):
            self.add(words(16, self.y + 22 + 20 * i, line, font_family=SANS, font_size=13.5))
        self.y += tall

    def say(self, text: str, colour: str = "ink2", sign: str = "", most: int = 4, left: float = 16) -> None:
        """A smaller sentence below."""
        at = left
        left += 18 if sign else 0
        lines = wrapped(text, int((self.width - left - PAD) / TEXT), most)
        self.y += 6
        if sign:
            self.sign(sign, at, self.y + 2)
        for line in lines:
            self.y += 17
            self.add(
                words(left, self.y - 4, line, font_family=SANS, font_size=12.5, fill=self.colour[colour])
            )

    def sign(self, name: str, x: float, y: float, size: float = 14) -> None:
        """A sign, its upper left corner at a place."""
        path, colour, line = SIGNS[name]
        ink = self.colour[colour]
        look: dict[str, Any] = {"fill": "none", "stroke": ink, "stroke_width": 2} if line else {"fill": ink}
        where = f"translate({number(x)} {number(y)})"
        if size != 14:
            where += f" scale({number(size / 14)})"
        self.add(tag("path", d=path, transform=where, **look))

    def code(self, x: float, y: float, text: str, space: float, **look: Any) -> None:
        """Text of equally wide letters, cut to its space."""
        small = look.get("font_size", 12) < 12
        inner = text.lstrip(" ")
        text = "\u00a0" * (len(text) - len(inner)) + inner  # a drawing leaves out spaces at the beginning
        self.add(words(x, y, cut(text, max(1, int(space / (SMALL if small else LETTER)))), **look))

    def called(self, x: float, y: float, row: Mapping[str, Any], op: str, space: float, *more: str) -> None:
        """What a row is called: its layer with class and size, and the op second; an op outside of all layers alone."""
        name = row["module"] or op
        wide = min(space, cells(name) * LETTER + 1)
        self.code(x, y, name, wide, font_weight=600)
        rest = " · ".join(part for part in ((row["layer"], op) if row["module"] else ()) if part)
        rest = " ".join(part for part in (rest, *more) if part)
        if space - wide > 30:
            self.code(x + wide + 8, y, rest, space - wide - 8, font_size=11, fill=self.colour["ink2"])

    def done(self, about: str) -> bytes:
        """The drawing."""
        wide, tall, c = self.width, self.y, self.colour
        card = tag(
            "rect", x=0.5, y=0.5, width=wide - 1, height=tall - 1, rx=6, fill=c["bg"], stroke=c["line"]
        )
        size = f'width="{wide}" height="{number(tall)}" viewBox="0 0 {wide} {number(tall)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{clean(about)}" '
            f'font-family="{clean(MONO)}" font-size="12" fill="{c["ink"]}">\n'
            + "\n".join([card, *self.parts])
            + "\n</svg>\n"
        ).encode("utf-8", "replace")


def wrapped(text: str, space: int, most: int) -> list[str]:
    """A sentence in lines of so many letters, the last one cut."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if cells(longer) > space and line:
            lines.append(line)
            line = word
        else:
            line = longer
    lines.append(line)
    if len(lines) > most:
        lines[most - 1 :] = [" ".join(lines[most - 1 :])]
    return [cut(one, space) for one in lines]
