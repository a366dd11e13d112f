"""Pieces of SVG drawings: text that stays text, colours of the look, paths of a layout.

Invariant: whatever comes from a record is escaped here, and numbers are written in one way, so that the same record
gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
COLOURS = {
    "light": {
        "bg": "#ffffff",
        "panel": "#f6f7f9",
        "ink": "#1b1f27",
        "ink2": "#545d6b",
        "ink3": "#687180",
        "line": "#dfe3ea",
        "edge": "#8a93a1",
        "grad": "#a84a06",
        "soft": "#fbeee2",
        "value": "#14705f",
        "bad": "#c0302a",
        "badsoft": "#fbe9e7",
    },
    "dark": {
        "bg": "#14161b",
        "panel": "#1d2027",
        "ink": "#e7eaf0",
        "ink2": "#aab3c1",
        "ink3": "#8b95a4",
        "line": "#343a45",
        "edge": "#6b7585",
        "grad": "#f2a65f",
        "soft": "#38281a",
        "value": "#5cc4b0",
        "bad": "#ff8172",
        "badsoft": "#3f2222",
    },
}


def clean(text: str) -> str:
    """Text for an SVG file: escaped, and without the characters that XML does not know."""
    kept = [
        c
        for c in text
        if c in "\n\t" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    ]
    return escape("".join(kept))


def number(value: float) -> str:
    """A coordinate, short."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def tag(name: str, inside: str = "", **attributes: Any) -> str:
    """One element; `inside` is markup already, attributes are escaped, `_` stands for `-`."""
    said = ""
    for key, value in attributes.items():
        if value is not None:
            text = number(value) if isinstance(value, (int, float)) else clean(value)
            said += f' {key.rstrip("_").replace("_", "-")}="{text}"'
    return f"<{name}{said}>{inside}</{name}>" if inside else f"<{name}{said}/>"


def words(x: float, y: float, text: str, **attributes: Any) -> str:
    """A text at a place."""
    return tag("text", clean(text), x=x, y=y, **attributes) if text else ""


def halo(
    x: float, y: float, parts: Sequence[tuple[str, dict[str, Any]]], colour: str, **attributes: Any
) -> str:
    """A text of several parts over lines, with the ground's colour around it."""
    inside = "".join([tag("tspan", clean(text), **look) for text, look in parts if text])
    around = {"paint_order": "stroke", "stroke": colour, "stroke_width": 4, "stroke_linejoin": "round"}
    return tag("text", inside, x=x, y=y, **around, **attributes)


def way(points: Sequence[tuple[int, int]], short: float = 0) -> str:
    """A path of a layout, `short` pixels before its end.

    Args:
        points: as in `debug/layout/model.py`.
        short: room for the head of an arrow.
    """
    x, y = points[0]
    said = [f"M{number(x)} {number(y)}"]
    last = len(points) - 1
    for i, (nx, ny) in enumerate(points[1:], 1):
        end = ny
        if i == last and short:
            end = ny - short if ny > y else ny + short
        if nx == x:
            said.append(f"V{number(end)}")
        elif ny == y:
            said.append(f"H{number(nx)}")
        else:
            middle = number((y + end) / 2)
            said.append(f"C{number(x)} {middle} {number(nx)} {middle} {number(nx)} {number(end)}")
        x, y = nx, ny
    return "".join(said)


def head(x: float, y: float, width: float, up: bool = False) -> str:
    """The head of an arrow that ends at a point."""
    half, tall = 4 + width / 2, 7 if up else -7
    return f"M{number(x - half)} {number(y + tall)}h{number(2 * half)}L{number(x)} {number(y)}z"
