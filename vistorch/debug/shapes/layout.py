"""Where the boxes of a shape error stand: what the page and the picture both draw.

A drawing is {"width", "height", "parts": [...]}; a part is ["box", x, y, width, height, role], ["line", x, y, x2, y2,
role] or ["text", x, y, text, role, anchor]. Roles: value, result, excess, bad, ink, faint, name, op.

Invariant: numbers and text only, the same for the same operands; nothing lies outside of width and height.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, cast

Part = (
    tuple[Literal["box"], float, float, float, float, str]
    | tuple[Literal["line"], float, float, float, float, str]
    | tuple[Literal["text"], float, float, str, str, str]
)


class Drawing(TypedDict):
    """Boxes, lines and texts."""

    width: float
    height: float
    parts: list[Part]


WIDE, TALL = 150.0, 96.0  # of the largest side
LEAST = 26.0
WIDTH = 720.0
LETTER = 7.3
BAR = 220.0


def drawing(operands: list, op: str, result: tuple[int, ...] | None, sides: list[tuple[str, int]]) -> Drawing:
    """The parts of a picture of these operands.

    Args:
        operands: what the op was given.
        op: the sign between them.
        result: the shape that was not made, None where it is not known.
        sides: the sizes that should be equal, to be drawn to scale.
    """
    longest = max((n for one in operands for n in one.shape[-2:]), default=1)
    parts: list[list[Any]] = []
    boxes = [_Box(one.name, one.shape, one.marks, one.note, longest) for one in operands]
    if result is not None:
        boxes.append(_Box("not made", result, (), "", max(longest, *result[-2:], 1)))
    x, y, width, row = 0.0, 0.0, 0.0, 0.0
    for i, box in enumerate(boxes):
        made = result is not None and i == len(boxes) - 1
        sign = "=" if made else "" if not i else op if i == 1 else ","
        gap = 20 + LETTER * len(sign) + 20 if sign else 0.0
        if i and x + gap + box.width > WIDTH:
            x, y, row = 0.0, y + row + 12, 0.0
        if sign:
            parts.append(["text", _r(x + gap / 2), _r(y + 48), sign, "op", "middle"])
        parts += box.parts(x + gap, y, "result" if made else "value")
        x += gap + box.width
        row = max(row, box.height)
        width = max(width, x)
    height = y + row
    bars = [(name, n) for name, n in sides if n >= 0]
    if len(bars) == 2 and bars[0][1] != bars[1][1]:
        low, high = sorted(n for _, n in bars)
        wide = max([len(str(n)) for _, n in bars]) * LETTER + 8
        height += 10
        for _, n in bars:
            end = wide + max(2.0, BAR * n / max(high, 1))
            parts.append(["text", _r(wide - 6), _r(height + 13), str(n), "bad", "end"])
            parts.append(["line", _r(wide), _r(height + 9), _r(end), _r(height + 9), "bar"])
            if n == low:
                parts.append(["box", _r(end), _r(height + 4), _r(wide + BAR - end), 10, "excess"])
                parts.append(
                    [
                        "text",
                        _r(wide + BAR + 8),
                        _r(height + 13),
                        f"differ by {high - low}",
                        "faint",
                        "start",
                    ]
                )
            height += 20
        width = max(width, wide + BAR + 8 + LETTER * len(f"differ by {high - low}"))
    return cast("Drawing", {"width": _r(width + 2), "height": _r(height + 4), "parts": parts})


def _r(x: float) -> float:
    return round(x, 1)


class _Box:
    """One operand: its last two sides as a rectangle, those before them in words."""

    def __init__(
        self, name: str, shape: tuple[int, ...], marks: tuple[int, ...], note: str, longest: int
    ) -> None:
        self.name, self.shape, self.marks, self.note = name, shape, marks, note
        rows, columns = (1, *shape)[-2:] if shape else (1, 1)
        scale = max(longest, 1)
        self.wide = max(LEAST, WIDE * columns / scale)
        self.tall = max(LEAST, TALL * rows / scale) if len(shape) > 1 else LEAST
        self.deep = min(len(shape) - 2, 3) if len(shape) > 2 else 0
        self.text = " × ".join(map(str, shape)) if shape else "a number"
        self.left = LETTER * len(str(rows)) + 12 if len(shape) > 1 else 4.0
        said = [self.name, self.text, self.note]
        middle = self.wide + 5 * self.deep
        side = max(LETTER * max(map(len, said)) - middle, 0) / 2
        self.left = max(self.left, side)
        self.width = self.left + middle + max(side, 6.0)
        self.height = 24 + 5 * self.deep + self.tall + 40 + (16 if note else 0)

    def parts(self, x: float, y: float, role: str) -> list[list[Any]]:
        """What is drawn, with the upper left corner of all of it at a place."""
        at, top = x + self.left, y + 24 + 5 * self.deep
        centre = _r(at + (self.wide + 5 * self.deep) / 2)
        made: list[list[Any]] = [
            ["text", centre, _r(y + 13), self.name, "faint" if role == "result" else "name", "middle"]
        ]
        made += [
            ["box", _r(at + 5 * i), _r(top - 5 * i), _r(self.wide), _r(self.tall), role]
            for i in range(self.deep, -1, -1)
        ]
        n, bottom = len(self.shape), top + self.tall
        across = at + self.wide / 2
        for i in range(max(n - 2, 0), n):
            bad = i in self.marks
            ink = "bad" if bad else "ink"
            if i == n - 1:
                if bad:
                    made.append(["line", _r(at), _r(bottom), _r(at + self.wide), _r(bottom), "bad"])
                made.append(["text", _r(across), _r(bottom + 15), str(self.shape[i]), ink, "middle"])
            else:
                if bad:
                    made.append(["line", _r(at), _r(top), _r(at), _r(bottom), "bad"])
                made.append(["text", _r(at - 7), _r(top + self.tall / 2 + 4), str(self.shape[i]), ink, "end"])
        leading = [i for i in self.marks if i < n - 2]
        if leading:
            deep = 5 * self.deep
            made.append(["line", _r(at), _r(top), _r(at + deep), _r(top - deep), "bad"])
        left = (at + (self.wide + 5 * self.deep) / 2) - LETTER * len(self.text) / 2
        if not leading:
            made.append(["text", centre, _r(bottom + 31), self.text, "faint", "middle"])
        for i, size in enumerate(self.shape if leading else ()):  # only those that differ are red
            made.append(
                ["text", _r(left), _r(bottom + 31), str(size), "bad" if i in leading else "faint", "start"]
            )
            left += LETTER * (len(str(size)) + 1)
            if i < n - 1:
                made.append(["text", _r(left), _r(bottom + 31), "×", "faint", "start"])
                left += LETTER * 2
        if self.note:
            made.append(["text", centre, _r(bottom + 47), self.note, "bad", "middle"])
        return made
