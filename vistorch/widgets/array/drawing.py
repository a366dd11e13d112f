"""An array record as an SVG drawing: the picture with its names, its legend and its sentence around it, as text.

Invariant: every text is escaped; nothing in the file is fetched from elsewhere.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from typing import Any

from .._frame import png
from .._frame.colours import part_of, sampled
from . import cells, raster
from .digits import short

INKS = {"light": ("#1b1f27", "#545d6b"), "dark": ("#e7eaf0", "#aab3c1")}
MONO = "ui-monospace, Menlo, Consolas, monospace"


def _text(
    x: float, y: float, text: str, fill: str, *, size: float = 11, anchor: str = "start", mono: bool = False
) -> str:
    look = f'font-size="{size:g}" text-anchor="{anchor}" fill="{fill}"'
    if mono:
        look += f' font-family="{MONO}"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(text)}</text>'


def _legend(scale: Mapping[str, Any], theme: str, x: float, y: float, name: str) -> list[str]:
    faint = INKS[theme][1]
    colours = sampled(scale["map"], theme, part_of(scale), 17)
    stops = "".join(
        f'<stop offset="{i / 16:g}" stop-color="rgb({r},{g},{b})"/>'
        for i, (r, g, b) in enumerate(colours.tolist())
    )
    low, high = short(cells.number(scale["lo"])), short(cells.number(scale["hi"]))
    return [
        f'<linearGradient id="{name}">{stops}</linearGradient>',
        f'<rect x="{x:g}" y="{y:g}" width="240" height="10" fill="url(#{name})"/>',
        _text(x, y + 23, low.replace("-", "−"), faint, mono=True),
        _text(x + 240, y + 23, high.replace("-", "−"), faint, anchor="end", mono=True),
        _text(x + 256, y + 9, scale["say"], faint),
    ]


def svg(record: Any, theme: str = "light") -> bytes:
    """The drawing of an array record.

    Args:
        record: anything with `wire()` of kind "array".
        theme: "light" or "dark".
    """
    state = record.wire()
    ink, faint = INKS[theme]
    width = max(640, int(state.get("size") or 640)) + 24
    parts: list[str] = []
    y = 8.0
    for index, item in enumerate(state["items"][:24]):
        name = escape(item["name"])
        shape = " × ".join(map(str, item["shape"])) or "scalar"
        facts = " · ".join([shape, item["dtype"], item["device"], *item.get("notes", [])])
        aside = f'dx="10" font-size="11" font-weight="400" fill="{faint}" font-family="sans-serif"'
        parts += [
            f'<text x="12" y="{y + 14:g}" font-size="13" font-weight="600" fill="{ink}" font-family="{MONO}">{name}'
            f"<tspan {aside}>{escape(facts)}</tspan></text>"
        ]
        y += 26
        if not item["layers"] or not item["layers"][0]["scales"] or not all(item["shape"]):
            y += 8
            continue
        layer = item["layers"][0]
        scale = layer["scales"][layer["scale"]]
        if not item["shape"]:
            value = short(float(cells.values(layer).reshape(-1)[0])).replace("-", "−")
            parts.append(_text(12, y + 14, value, ink, size=15, mono=True))
            y += 30
            continue
        palette = raster.Palette(theme)
        pixels = cells.picture(item, layer)
        if pixels is not None:
            shown = raster.image(pixels, width - 24)
            data = png.full(shown)
        else:
            shown = raster.heat(item, layer, palette, width - 24)
            data = png.indexed(shown, palette.array(), raster.OPEN)
        tall, wide = shown.shape[:2]
        parts.append(
            f'<image x="12" y="{y:g}" width="{wide}" height="{tall}" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{base64.b64encode(data).decode()}"/>'
        )
        y += tall + 8
        if pixels is None:
            parts += _legend(scale, theme, 12, y, f"ramp{index}")
            y += 40
    drawn = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y:g}" viewBox="0 0 {width} {y:g}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(state["title"])}">\n{drawn}\n</svg>\n'
    ).encode()
