"""Signs that say a state beside its word, as the pages draw them, and the colours they have.

Invariant: each is drawn on 14 by 14 pixels, and none differs from another by its colour alone.
"""

from __future__ import annotations

from math import cos, pi, sin

from .ink import COLOURS, number, tag

MORE = {
    "light": {
        "good": "#23703f",
        "warn": "#8f5400",
        "accent": "#2563d0",
        "chosen": "#e7effc",
        "onbad": "#ffffff",
    },
    "dark": {
        "good": "#6cc48b",
        "warn": "#e0ab4a",
        "accent": "#7fadff",
        "chosen": "#1f2d47",
        "onbad": "#1a0d0b",
    },
}
STAR = "M" + "L".join(
    f"{number(7 + r * sin(i * pi / 8))} {number(7 - r * cos(i * pi / 8))}"
    for i in range(16)
    for r in [3.6 if i % 2 else 6.6]
)
SIGNS = {  # the path, its colour, whether it is a line
    "origin": (f"{STAR}z", "bad", False),
    "propagated": ("M12 7a5 5 0 1 1-10 0a5 5 0 1 1 10 0z", "bad", True),
    "healed": ("M13 7a6 6 0 1 1-12 0a6 6 0 1 1 12 0zM7 4.2v5.6M4.2 7h5.6", "good", True),
    "clean": ("M9.4 7a2.4 2.4 0 1 1-4.8 0a2.4 2.4 0 1 1 4.8 0z", "ink3", False),
    "fine": ("M2 7.4l3.4 3.6 6.6-8", "good", True),
    "failed": ("M2.5 2.5l9 9m0-9l-9 9", "bad", True),
    "own": ("M7 1l6 11.5h-12z", "warn", False),
    "inherited": ("M7 2l5 9.5h-10z", "warn", True),
    "differs": ("M2.5 5h9M2.5 9h9M9.6 2l-5 10", "warn", True),
    "only": ("M7 1.5v11M1.5 7h11", "warn", True),
}


def sign(name: str, x: float, y: float, theme: str) -> str:
    """A sign on a ground of its own, which hides what lies below.

    Args:
        name: one of `SIGNS`.
        x: its centre.
        y: its centre.
        theme: "light" or "dark".
    """
    way, ink, line = SIGNS[name]
    colour = {**COLOURS[theme], **MORE[theme]}
    look = {"fill": "none", "stroke": colour[ink], "stroke_width": 2} if line else {"fill": colour[ink]}
    drawn = tag("path", d=way, transform=f"translate({number(x - 7)} {number(y - 7)})", **look)
    return tag("circle", cx=x, cy=y, r=8.5, fill=colour["bg"]) + drawn
