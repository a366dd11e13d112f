"""A row: one op that ran, forward and backward.

Invariant: a row is light; what is dear to find, such as the name of its module, is found when it is asked for.
"""

from __future__ import annotations

from typing import Any

from ..breaks.modules import path_of
from ..layers import about, spoken


class Row:
    """One op: its forward, and its backward where a pass came to it.

    `state` and `back` are "clean", "origin", "propagated" or "healed"; "" where nothing ran.
    """

    # defaults, so that making a row writes little
    state, back = "clean", ""
    came = ""  # what spoilt its inputs in forward: "nan", "inf", or "placed", on purpose as by a mask
    bad: Any = None
    back_bad: Any = None
    facts: Any = None  # of a origin in forward
    back_facts: Any = None
    shapes: tuple | list = ()
    squares: tuple | list = ()  # sums of squares of the outputs
    back_squares: tuple | list = ()
    made: Any = None  # the output, where it is one number
    ins: Any = None
    consts: Any = None
    outs: Any = None
    given: Any = None  # what came in backward, and what was sent
    sent: Any = None

    path: str | None = None
    called = layer = ""  # the module with that path: as code names it, and its class and size

    def __init__(self, index: int, rule: Any, name: str, place: Any, inside: Any) -> None:
        self.index, self.rule, self.name, self.place, self.inside = index, rule, name, place, inside

    @property
    def module(self) -> str | None:
        """The path of the module the op ran in; found when asked for, because names take longer than small ops."""
        if self.inside is not None:
            root, module = self.inside
            self.path, self.inside = path_of(root, module), None
            if self.path:
                self.called, self.layer = spoken(self.path, root), about(module)
        return self.path
