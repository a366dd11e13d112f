"""A graph record as an SVG drawing, in the look of the page.

Invariant: every text is escaped, nothing is fetched, and the same record gives the same bytes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...debug.graph.labels import (
    GROUP,
    GUTTER,
    NODE,
    ROOT,
    SMALL,
    about,
    fitted,
    scale_of,
    size_text,
    width_of,
)
from ...debug.graph.record import GraphRecord
from ...debug.graph.state import summary
from ...debug.graph.words import MARKS, cells, cut, number_text
from .._frame.ink import COLOURS, MONO, SANS, clean, halo, head, number, tag, way, words
from .._frame.sheet import wrapped
from .._frame.signs import sign

__all__ = ["MIME", "paint", "svg"]

MIME = "image/svg+xml"
MARGIN = 24
HEAD = 38
FOOT = 30
LEAST = 420
VERDICT = 4  # lines of the sentence that says what failed
TITLES = 700  # boxes; above this many, they have no tooltips


class _Drawing:
    def __init__(self, record: Any, theme: str) -> None:
        self.record, self.scene, self.colour, self.theme = record, record.scene, COLOURS[theme], theme
        self.found: dict[tuple[int, int], str] = {}  # by box: the worst that a trace found in it
        hidden = record.tree.shown(record.open) if any(n.mark for n in record.nodes) else ()
        for i, closed in enumerate(hidden):
            key, mark = (GROUP, closed) if closed >= 0 else (NODE, i), record.nodes[i].mark
            self.found[key] = max(self.found.get(key, ""), mark, key=MARKS.index)
        self.scale = scale_of(record)
        self.frames: list[str] = []
        self.lines: list[str] = []
        self.labels: list[str] = []
        self.boxes: list[str] = []
        self.taken: set[tuple[float, float]] = set()
        self.verticals: dict[float, list[tuple[float, float]]] = {}
        self.ins: dict[int, int] = {}
        self.outs: dict[int, int] = {}
        for link in self.scene.links:
            self.ins[link.target] = self.ins.get(link.target, 0) + 1
            self.outs[link.source] = self.outs.get(link.source, 0) + 1
            for (ax, ay), (bx, by) in pairwise(link.path):
                if ax == bx:
                    self.verticals.setdefault(ax, []).append((min(ay, by), max(ay, by)))

    def drawn(self) -> str:
        for frame in sorted(self.scene.frames, key=lambda f: -f.rect.width * f.rect.height):
            self._frame(frame)
        for link in self.scene.links:
            if link.path:
                self._link(link)
        for shown in self.scene.boxes:
            self._box(shown)
        for pill in self.scene.pills:
            self._pill(pill)
        self.said = [
            tag("g", "".join(self.frames)) if self.frames else "",
            tag("g", "".join(self.lines), fill="none") if self.lines else "",
            tag("g", "".join(self.boxes)),
            tag("g", "".join(self.labels)) if self.labels else "",
        ]
        return "\n".join([part for part in self.said if part])

    def _ground(self, x: float, y: float) -> str:
        """The colour behind a place: of the frame it lies in, or of the page."""
        inside = any(f.rect.x < x < f.rect.right and f.rect.y < y < f.rect.bottom for f in self.scene.frames)
        return self.colour["panel" if inside else "bg"]

    def _frame(self, frame: Any) -> None:
        c, r = self.colour, frame.rect
        self.frames.append(
            tag("rect", x=r.x, y=r.y, width=r.width, height=r.height, rx=6, fill=c["panel"], stroke=c["line"])
        )
        space = int((r.width - 40 - cells(frame.detail) * 6.1) / 7.2)
        look = {"font_family": SANS, "fill": c["ink2"]}
        self.labels.append(words(r.x + 10, r.y + 16, "▾ " + cut(frame.title, space), font_weight=600, **look))
        self.labels.append(
            words(r.right - 12, r.y + 16, frame.detail, text_anchor="end", font_size=11, **look)
        )

    def _link(self, link: Any) -> None:
        c = self.colour
        flows = link.norm is not None
        bad = flows and not link.norm - link.norm == 0
        ink = c["bad"] if bad else c["grad"] if flows else c["edge"]
        wide = width_of(link.norm, self.scale)
        if self.scene.keys[link.source][0] == ROOT and self.scale is not None:
            ink, wide, flows = c["grad"], 3.0, True
        x1, y1 = link.path[-1]
        up = y1 < link.path[0][1]
        self.lines.append(
            tag(
                "path",
                d=way(link.path, 0 if link.dead else 6),
                stroke=ink,
                stroke_width=wide,
                stroke_dasharray="3 3" if link.dead else None,
            )
        )
        if not link.dead:
            self.lines.append(tag("path", d=head(x1, y1, wide, up), fill=ink))
        place = self._beside(link)
        if place is None:
            return
        x, y = place
        # where several edges run as one, only what they have in common is said, and once
        shared = sum([top <= y <= bottom for top, bottom in self.verticals[x]]) > 1
        if place in self.taken:
            return
        self.taken.add(place)
        look = {"fill": ink if flows else c["ink2"], "font_size": 11}
        norm = "" if shared else size_text(link.norm, link.value)
        # a long shape must not run into what stands beside the next box
        space = self.scene.boxes[link.target].rect.width / 2 + 34 - (cells(norm) * SMALL + 8 if norm else 0)
        shape = link.label if cells(link.label) * SMALL < space else link.label.replace(" × ", "×")
        parts = [(shape, {}), (norm, {"dx": 8, "font_weight": 600})]
        self.labels.append(halo(x + 11, y, parts, self._ground(x + 11, y), **look))

    def _beside(self, link: Any) -> tuple[float, float] | None:
        """Where the words of an edge stand: beside a straight piece of it between the frames that it crosses."""
        if not link.label or link.dead:
            return None
        y0, y1 = link.path[0][1], link.path[-1][1]
        if y1 <= y0:
            return None
        low, high = y0, y1
        for frame in self.scene.frames:
            r = frame.rect
            leaves, enters = r.y <= y0 <= r.bottom, r.y <= y1 <= r.bottom
            if leaves and not enters:
                low = max(low, r.bottom)
            elif enters and not leaves:
                high = min(high, r.y)
        spots = []
        if self.ins[link.target] == 1:
            spots.append(high - 6)
        if self.outs[link.source] == 1:
            spots.append(low + 13)
        if len(spots) == 2 and high - low < 60:
            spots.insert(0, (low + high) / 2 + 3.5)
        for y in spots:
            for (ax, ay), (bx, by) in pairwise(link.path):
                if ax == bx and ay <= y - 4 and y <= by + 8 and low <= y - 8 and y <= high + 8:
                    return ax, y
        return None

    def _box(self, shown: Any) -> None:
        c, r, record = self.colour, shown.rect, self.record
        if shown.what == ROOT:
            look = {"fill": c["value"], "font_weight": 600, "font_size": 11, "text_anchor": "middle"}
            self.boxes.append(words(r.x + r.width / 2, r.y + 10, shown.label.bold, **look))
            return
        node = record.nodes[shown.number] if shown.what == NODE else None
        if node is not None and node.kind not in ("op", "failed"):
            self._leaf(shown, node)
            return
        failed = node is not None and node.kind == "failed"
        parts, line = [], r.y + r.height / 2 + 4
        fill, stroke = (c["badsoft"], c["bad"]) if failed else (c["bg"], c["edge"])
        size = {"width": r.width, "height": r.height, "rx": 5}
        if shown.what == GROUP:
            parts.append(tag("rect", x=r.x + 3, y=r.y + 3, fill=c["panel"], stroke=c["edge"], **size))
        parts.append(tag("rect", x=r.x, y=r.y, fill=fill, stroke=stroke, **size))
        label = fitted(shown.label, r.width)
        mark = "▸" if shown.what == GROUP else "×" if failed else ""
        parts.append(words(r.x + 9, line, mark, fill=c["bad"] if failed else c["ink2"]))
        inside = tag("tspan", clean(label.bold), font_weight=600) if label.bold else ""
        if label.plain:
            faint = c["ink2"] if label.bold else c["ink"]
            inside += tag("tspan", clean(label.plain), fill=faint, dx=7 if label.bold else None)
        parts.append(tag("text", inside, x=r.x + GUTTER, y=line))
        parts.append(words(r.right - 8, line, label.right, fill=c["ink2"], font_size=11, text_anchor="end"))
        found = self.found.get((shown.what, shown.number))
        if found:
            parts.append(sign(found, r.x - 3, r.y + r.height / 2, self.theme))
        self.boxes.append(tag("g", self._about(shown) + "".join(parts)))

    def _leaf(self, shown: Any, node: Any) -> None:
        """An input at the end of the way: a pill, dashed where no gradient reaches it."""
        c, r = self.colour, shown.rect
        reached = node.grad is not None
        dead = bool(node.says) or node.kind == "constant"
        text = f"{shown.label.bold}  {shown.label.plain}"
        space = int((r.width - 16) / SMALL)
        wide = min(r.width, int(cells(cut(text, space)) * SMALL) + 28)
        x = r.x + (r.width - wide) // 2
        rect = tag(
            "rect",
            x=x,
            y=r.y,
            width=wide,
            height=r.height,
            rx=r.height / 2,
            fill=c["soft"] if reached else "none" if dead else c["bg"],
            stroke=c["grad"] if reached else c["edge"],
            stroke_dasharray="3 3" if dead else None,
        )
        label = words(
            r.x + r.width / 2,
            r.y + 14,
            cut(text, space),
            font_size=11,
            text_anchor="middle",
            fill=c["ink3"] if dead else c["ink"],
        )
        self.boxes.append(tag("g", self._about(shown) + rect + label))

    def _pill(self, pill: Any) -> None:
        c, r = self.colour, pill.rect
        node = self.record.nodes[pill.node]
        owner = self.scene.boxes[pill.owner].rect
        wide = width_of(node.grad, self.scale)
        ink = c["edge"] if node.grad is None else c["grad"]
        dead = node.kind == "constant" or bool(node.says)
        x0, y0, x1, y1 = owner.right, owner.y + owner.height / 2, r.x, r.y + r.height / 2
        bend = [number(v) for v in (x0 + (x1 - x0) * 0.55, y0, x1 - (x1 - x0) * 0.6, y1, x1 - 6, y1)]
        self.lines.append(
            tag(
                "path",
                d=f"M{number(x0)} {number(y0)}C{' '.join(bend)}",
                stroke=ink,
                stroke_width=wide,
                stroke_dasharray="3 3" if dead else None,
            )
        )
        if not dead:
            half = 3 + wide / 2
            self.lines.append(
                tag(
                    "path",
                    d=f"M{number(x1 - 7)} {number(y1 - half)}v{number(2 * half)}L{number(x1)} {number(y1)}z",
                    fill=ink,
                )
            )
        if pill.ride >= 0:
            self._ride(pill, (x0 + x1) / 2 - 1, (y0 + y1) / 2, ink)
        fill = "none" if dead else c["soft"] if node.grad is not None else c["bg"]
        look = {"fill": fill, "stroke": ink, "stroke_dasharray": "3 3" if dead else None}
        parts = [tag("rect", x=r.x, y=r.y, width=r.width, height=r.height, rx=9, **look)]
        space = int((r.width - 20) / SMALL) - (cells(pill.right) + 1 if pill.right else 0)
        name = cut(pill.name, max(4, space - cells(pill.detail) - 1))
        detail = cut(pill.detail, space - cells(name) - 1)
        inside = tag("tspan", clean(name)) + tag("tspan", clean(detail), fill=c["ink2"], dx=6)
        parts.append(tag("text", inside, x=r.x + 10, y=r.y + 13, font_size=11))
        bold = {"fill": c["grad"], "font_size": 11, "font_weight": 600, "text_anchor": "end"}
        parts.append(words(r.right - 10, r.y + 13, pill.right, **bold))
        title = tag("title", clean(about(self.record, pill.node)))
        self.boxes.append(tag("g", title + "".join(parts)))

    def _ride(self, pill: Any, x: float, y: float, ink: str) -> None:
        """The sign of a view on the way to a parameter."""
        c, sign = self.colour, self.record.nodes[pill.ride].chip
        wide = max(14, cells(sign) * 5.8 + 7)
        title = tag("title", clean(about(self.record, pill.ride)))
        rect = tag("rect", x=x - wide / 2, y=y - 7, width=wide, height=14, rx=7, fill=c["panel"], stroke=ink)
        self.boxes.append(
            tag(
                "g",
                title + rect + words(x, y + 3.3, sign, font_size=9.5, text_anchor="middle", fill=c["ink"]),
            )
        )

    def _about(self, shown: Any) -> str:
        if len(self.scene.boxes) > TITLES:
            return ""
        if shown.what == NODE:
            return tag("title", clean(about(self.record, shown.number)))
        group = self.record.groups[shown.number]
        return tag("title", clean("\n".join(filter(None, [group.path, group.kind, shown.label.plain]))))


def _header(record: Any, colour: dict[str, str], width: int) -> str:
    space = int((width - 24) / 7.9)
    title = cut(record.title, space)
    inside = tag("tspan", clean(title), font_weight=600, font_size=13)
    meta = " · ".join(record.meta)
    if cells(title) * 7.9 + len(meta) * 6.3 + 34 < width:
        inside += tag("tspan", clean(meta), dx=10, font_size=11, font_family=SANS, fill=colour["ink2"])
    line = tag("path", d=f"M0 {HEAD - 0.5}H{width}", stroke=colour["line"])
    return tag("text", inside, x=12, y=24) + line


def _verdict(record: Any, colour: dict[str, str], width: int) -> tuple[str, int]:
    """The strip that says what failed, and its height."""
    if record.failed < 0 or not record.says:
        return "", 0
    space = int((width - 28) / 6.9)
    lines = wrapped(record.says[-1], space, VERDICT)
    tall = 14 + 17 * len(lines)
    parts = [
        tag("rect", x=1, y=HEAD, width=width - 2, height=tall, fill=colour["badsoft"]),
        tag("rect", x=1, y=HEAD, width=4, height=tall, fill=colour["bad"]),
    ]
    for i, said in enumerate(lines):
        parts.append(words(16, HEAD + 19 + 17 * i, cut(said, space), font_family=SANS, font_size=12.5))
    return "".join(parts), tall


def _legend(record: Any, colour: dict[str, str], width: int, y: float) -> str:
    look = {"font_family": SANS, "font_size": 11, "fill": colour["ink2"]}
    parts = [tag("path", d=f"M0 {number(y + 0.5)}H{width}", stroke=colour["line"])]
    scale = scale_of(record)
    x = 12.0
    if record.tree.frames and len(record.open) < len(record.tree.frames):
        parts.append(words(x, y + 19, "▸ closed group", **look))
        x += 100
    if scale is not None:
        for k, wide in enumerate((1.5, 3.5, 6.0)):
            parts.append(
                tag(
                    "path",
                    d=f"M{number(x + 15 * k)} {number(y + 15)}h12",
                    stroke=colour["grad"],
                    stroke_width=wide,
                )
            )
        low, high = (number_text(10**end, 2) for end in scale)
        parts.append(
            words(x + 52, y + 19, f"width: ‖gradient‖, log, {low} … {high}; one number: signed", **look)
        )
        x += 52 + 330
    else:
        failed = "× the op that failed · edges: shapes of what led to it"
        flows = "edges: shapes of the gradients that will flow"
        parts.append(words(x, y + 19, flows if record.failed < 0 else failed, **look))
        x += 250
    if record.says and record.failed < 0 and x + len(record.says[0]) * 5.6 < width:
        parts.append(words(width - 12, y + 19, record.says[0], text_anchor="end", **look))
    return "".join(parts)


def svg(record: Any, theme: str = "light") -> bytes:
    """The drawing of a graph record.

    Args:
        record: a graph record.
        theme: "light" or "dark".
    """
    colour = COLOURS[theme]
    drawing = _Drawing(record, theme)
    inside = drawing.drawn()
    scene = drawing.scene
    wide = max(LEAST, scene.width + 2 * MARGIN)
    verdict, below = _verdict(record, colour, wide)
    x, y = (wide - scene.width) // 2, HEAD + below + 10
    tall = y + scene.height + 16 + FOOT
    card = tag(
        "rect", x=0.5, y=0.5, width=wide - 1, height=tall - 1, rx=6, fill=colour["bg"], stroke=colour["line"]
    )
    parts = [
        card,
        _header(record, colour, wide),
        *([verdict] if verdict else []),
        tag("g", "\n" + inside + "\n", transform=f"translate({x} {y})"),
        _legend(record, colour, wide, tall - FOOT),
    ]
    about_it = clean(summary(record))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}" '
        f'role="img" aria-label="{about_it}" font-family="{MONO}" font-size="11.5" fill="{colour["ink"]}">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    ).encode()


def paint(record: GraphRecord, theme: str = "light") -> bytes:
    """The picture of a graph record: the drawing itself.

    Args:
        record: a graph record.
        theme: "light" or "dark".
    """
    return svg(record, theme)
