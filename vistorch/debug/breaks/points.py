"""A breakpoint: a condition or a predicate, and how often it held.

Invariant: whether a breakpoint holds is asked after its node ran and before anybody uses what it gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from ..step_record import Frame
from .grammar import parse
from .moment import Moment


class Walked(Protocol):
    """What a breakpoint asks of a pass that is walked: `debug.Stepper` is one."""

    @property
    def frame(self) -> Frame | None:
        """The newest step, or None at the beginning."""
        ...


class Breakpoint:
    """Where a pass stops.

    Args:
        condition: text as `breaks.grammar` reads it, or a function of a Frame.
        enabled: whether it is looked at.
        waits: whether a running cell waits there while its page steps the pass, and goes on when that is left.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Breakpoint, Stepper
        >>> point = Breakpoint("grad.norm > 1e3 @ layer2.*")
        >>> print(point, point.needs)  # where modules are not noted, it cannot hold
        grad.norm > 1000 @ layer2.* frozenset({'module'})
        >>> class Second(Breakpoint):  # where the condition holds for the second time
        ...     def holds(self, moment, stepper):
        ...         return super().holds(moment, stepper) and self.hits == 2
        >>> x = vistorch.tensor(2.0, requires_grad=True)
        >>> stepper = Stepper(((x * 3).exp() * 5) ** 2)
        >>> print(stepper.run_to_break(Second("Mul")), stepper.position)
        stopped before MulBackward0: Mul 3
        >>> stepper.undo()
    """

    def __init__(
        self, condition: str | Callable[[Any], Any], enabled: bool = True, waits: bool = False
    ) -> None:
        self.predicate: Callable[[Any], Any] | None = condition if callable(condition) else None
        self.test: Any = None if callable(condition) else parse(condition)
        self.enabled, self.waits = enabled, waits
        self.number = 0  # given by the session
        self.hits = 0

    @property
    def needs(self) -> frozenset[str]:
        """What must have been noted for it to be able to hold."""
        return frozenset(("line", "module")) if self.test is None else self.test.needs

    def holds(self, moment: Moment, stepper: Walked) -> bool:
        """Whether the pass stops here."""
        if not self.enabled:
            return False
        held = self.predicate(stepper.frame) if self.predicate is not None else self.test.holds(moment)
        self.hits += bool(held)
        return bool(held)

    def __str__(self) -> str:
        if self.predicate is not None:
            return f"{getattr(self.predicate, '__name__', 'a predicate')}(frame)"
        return str(self.test)


@dataclass(frozen=True)
class Stop:
    """What stopped a pass: `frame` is the step that was taken back, `stepper` stands before it."""

    breakpoint: Breakpoint
    frame: Any
    stepper: Any

    def __str__(self) -> str:
        return f"stopped before {str(self.frame).partition(': ')[2]}: {self.breakpoint}"


def breakpoints_of(given: Any) -> list[Breakpoint]:
    """One or several breakpoints, conditions or predicates as breakpoints."""
    if isinstance(given, (str, Breakpoint)) or callable(given):
        given = (given,)
    if not isinstance(given, Iterable):
        raise TypeError(f"a breakpoint is text or a function of a frame, not {type(given).__name__}")
    return [one if isinstance(one, Breakpoint) else Breakpoint(one) for one in given]
