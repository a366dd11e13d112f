"""Parameters that an optimizer's step left as they were.

Invariant: a parameter without a gradient is not looked at: the step had nothing to do for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.base.events import Listener
from ..numbers import host


class Unchanged(Listener):
    """Compares parameters before and after each step of an optimizer.

    Args:
        report: called with the optimizer and what is known of the parameters it left as they were, if any.
    """

    def __init__(self, report: Callable[[Any, list[str]], None]) -> None:
        self.report = report
        self._before: dict[int, list] = {}

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Look before and after a step."""
        if name == "step":
            self._before[id(subject)] = [
                (called, p, host(p).copy()) for called, p in _parameters(subject) if p.grad is not None
            ]
        elif name == "step_end":
            found = self._before.pop(id(subject), [])
            same = [
                called
                for called, p, was in found
                if np.array_equal(host(p), was, equal_nan=was.dtype.kind in "fc")
            ]
            if same:
                self.report(subject, same)


def _parameters(optimizer: Any) -> list:
    found = []
    for g, group in enumerate(optimizer.param_groups):
        names = group.get("param_names") or ()
        for i, p in enumerate(group["params"]):
            shape = "x".join(str(n) for n in p.shape)
            called = names[i] if i < len(names) else f"parameter {i} of group {g} ({shape or 'a number'})"
            found.append((called, p))
    return found
