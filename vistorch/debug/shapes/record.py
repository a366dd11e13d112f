"""The record of a shape error, and how it reads.

Invariant: numbers and text; no tensor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypedDict

from .layout import Drawing, drawing


class Given(TypedDict):
    """An operand as it is listed."""

    name: str
    shape: str
    note: str
    bad: bool


class State(TypedDict):
    """What travels."""

    title: str
    report: str
    sentence: str  # what does not fit
    error: str  # the exception's own words
    place: str  # "cell [6], line 12"
    module: str  # "net[2] Linear 84 → 10", or ""
    op: str  # the sign between the operands
    source: list[tuple[int, str, str]]  # number, text, "hit" or ""
    operands: list[Given]
    drawing: Drawing


@dataclass(frozen=True)
class Operand:
    """One thing an op was given: `marks` are the sides that do not fit, `note` its dtype where that does not."""

    name: str
    shape: tuple[int, ...]
    marks: tuple[int, ...] = ()
    note: str = ""
    argument: str = ""

    @property
    def text(self) -> str:
        """The shape as people write it."""
        return " × ".join(map(str, self.shape)) if self.shape else "a number"


@dataclass
class ShapeRecord:
    """What an op was given that does not fit together.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.shapes import explain
        >>> a, b = vistorch.ones(3, 4), vistorch.ones(5, 6)
        >>> try:
        ...     a @ b
        ... except RuntimeError as error:
        ...     record = explain(error)
        >>> [(one.shape, one.marks) for one in record.operands], record.op
        ([((3, 4), (1,)), ((5, 6), (0,))], '@')
        >>> "shape" in record.wire()["title"] and "4 columns" in record.text()
        True
    """

    kind: ClassVar[str] = "shape"
    replaces_text: ClassVar[bool] = True

    sentence: str
    error: str
    op: str
    operands: list[Operand]
    place: str = ""
    module: str = ""
    result: tuple[int, ...] | None = None
    sides: list[tuple[str, int]] = field(default_factory=list)
    source: list[tuple[int, str, str]] = field(default_factory=list)

    def text(self) -> str:
        """The sentence, the line, and the operands with their sides marked from below."""
        out = [f"shape error{f' in {self.place}' if self.place else ''}: {self.sentence}"]
        if self.module:
            out.append(f"  in {self.module}")
        out += [
            f"  {'>' if role else ' '} {number:>3}  {text}".rstrip() for number, text, role in self.source
        ]
        above, below = "", ""
        for i, one in enumerate(self.operands):
            if i:
                above += f"   {self.op if i == 1 else ','}   "
            above += f"{one.name}  "
            below = below.ljust(len(above))
            for j, n in enumerate(one.shape):
                below += ("^" if j in one.marks else " ") * len(str(n))
                above += str(n) + (" × " if j < len(one.shape) - 1 else "")
                below = below.ljust(len(above))
            above += "a number" if not one.shape else ""
            if one.note:
                below = below.ljust(len(above) + 2) + "^" * len(one.note)
                above += f"  {one.note}"
        out += ["", f"    {above}".rstrip()]
        if below.strip():
            out.append(f"    {below}".rstrip())
        return "\n".join(out)

    def wire(self) -> State:
        """As it travels."""
        return {
            "title": "shape error",
            "report": f"{self.text()}\n\n{self.error}",
            "sentence": self.sentence,
            "error": self.error,
            "place": self.place,
            "module": self.module,
            "op": self.op,
            "source": list(self.source),
            "operands": [
                {"name": one.name, "shape": one.text, "note": one.note, "bad": bool(one.marks or one.note)}
                for one in self.operands
            ],
            "drawing": drawing(self.operands, self.op, self.result, self.sides),
        }
