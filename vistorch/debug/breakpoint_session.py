"""Breakpoints of the session: any later backward pass stops where one of them holds.

A pass that is about to start is taken over by a stepper. If nothing holds, it ends as a plain pass would have; else the
stepper is handed on, or an exception that carries it is raised: whatever stands after `backward()` does not run.

Invariant: while no breakpoint is enabled, nothing listens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from ..engine.base.events import Listener
from ..engine.base.modes import mode
from .backward_driver import watched, watching
from .breaks.modules import Modules
from .breaks.points import Breakpoint, Stop
from .breaks.unchanged import Unchanged
from .lines import Lines
from .source import Unsupported, named, real_torch


class Stopped(Exception):
    """A backward pass was stopped by a breakpoint; `stepper` stands before the node it holds of.

    `stepper` is None where an optimizer's step was stopped at.

    Args:
        stop: where it stopped; None at an optimizer's step.
        sentence: what stopped it.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Breakpoints, Stopped
        >>> session = Breakpoints()
        >>> _ = session.add("SqrtBackward0")
        >>> try:
        ...     vistorch.ones(1, requires_grad=True).sqrt().sum().backward()
        ... except Stopped as stopped:
        ...     print(stopped.stepper.position)
        1
        >>> session.clear()
    """

    def __init__(self, stop: Stop | None, sentence: str) -> None:
        super().__init__(sentence)
        self.stop = stop
        self.stepper = None if stop is None else stop.stepper

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the sentence; the way through the engine to it says nothing more."""
        return [f"{type(self).__name__}: {self}"]


class Breakpoints(Listener):
    """A list of breakpoints that listens while one of them is enabled.

    Args:
        on_stop: what is called with a Stop, for example to show its stepper. If it ends the pass (`finish()` or
            `undo()`), the program goes on after `backward()`, but for an answer "end"; if it returns "continue", the
            pass runs to the next breakpoint; else Stopped is raised. None: it is always raised.
        names: a function of a pass, giving what its leaves are called.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Breakpoints, Stopped
        >>> session = Breakpoints()
        >>> _ = session.add("bad")
        >>> x = vistorch.zeros(1, requires_grad=True)
        >>> try:
        ...     x.sqrt().sum().backward()
        ... except Stopped as stopped:
        ...     print(stopped.stepper.position, x.grad)
        1 None
        >>> _ = session.add(lambda frame: frame.line and "loss" in frame.line.text)
        >>> session.enable(1, False)  # left out for now
        >>> print(session.text())
        1: bad  (off)  held 1x
        2: <lambda>(frame)
        >>> session.remove(2)
        >>> x.sqrt().sum().backward()  # nothing is looked at, nothing stops
        >>> x.grad
        tensor([inf])
        >>> session.clear()
    """

    def __init__(
        self,
        on_stop: Callable[[Stop], Any] | None = None,
        names: Callable[[Any], dict] | None = None,
    ) -> None:
        self.on_stop, self.names = on_stop, names
        self._points: dict[int, Breakpoint] = {}
        self._open: ExitStack | None = None
        self._open_for: frozenset[str] = frozenset()
        self._last = 0
        self._foreign: ExitStack | None = None
        self._foreign_for: frozenset[str] = frozenset()

    steers = True  # nobody else drives a pass

    # ---- the list ---------------------------------------------------------------------------------------------
    def add(self, condition: Any) -> Breakpoint:
        """Add a breakpoint: a condition as text, or a function of a Frame.

        Args:
            condition: what has to hold.
        """
        point = condition if isinstance(condition, Breakpoint) else Breakpoint(condition)
        self._last += 1
        point.number = self._last
        self._points[point.number] = point
        self._listen()
        return point

    def remove(self, number: int) -> None:
        """Remove a breakpoint by its number."""
        self._find(number)
        del self._points[number]
        self._listen()

    def enable(self, number: int, on: bool = True) -> None:
        """Look at a breakpoint, or leave it out for now."""
        self._find(number).enabled = on
        self._listen()

    def clear(self) -> None:
        """Remove all; the next one is number 1 again."""
        self._points.clear()
        self._last = 0
        self._listen()

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._points.values()))

    def __len__(self) -> int:
        return len(self._points)

    def text(self) -> str:
        """The list as people read it."""
        if not self._points:
            return "no breakpoints"
        rows = [
            f"{p.number}: {p}{'' if p.enabled else '  (off)'}{'  (waits)' if p.waits else ''}"
            f"{f'  held {p.hits}x' if p.hits else ''}"
            for p in self
        ]
        return "\n".join(rows)

    def _find(self, number: int) -> Breakpoint:
        if number not in self._points:
            there = ", ".join(str(n) for n in self._points) or "none"
            raise ValueError(f"there is no breakpoint {number}; there are: {there}")
        return self._points[number]

    # ---- listening --------------------------------------------------------------------------------------------
    def _listen(self) -> None:
        """Listen to no more than the enabled breakpoints need."""
        on = [p for p in self if p.enabled]
        needs = frozenset().union(*[p.needs for p in on]) | ({"pass"} if on else frozenset())
        self._listen_to_torch(needs)
        if needs == self._open_for:
            return
        if self._open is not None:
            self._open.close()
        self._open, self._open_for = (ExitStack() if needs else None), needs
        if self._open is not None:
            self._open.enter_context(self)
            if "line" in needs:
                self._open.enter_context(Lines())
            if "module" in needs:
                self._open.enter_context(Modules())
            if "step" in needs:
                self._open.enter_context(Unchanged(self._step))

    def _listen_to_torch(self, needs: frozenset[str]) -> None:
        """The same for passes of PyTorch, where a program has imported it."""
        if needs == self._foreign_for or (self._foreign is None and needs and real_torch() is None):
            return
        if self._foreign is not None:
            self._foreign.close()
        self._foreign, self._foreign_for = (ExitStack() if needs else None), needs
        if self._foreign is None:
            return
        torch: Any = named("torch")
        try:
            self._foreign.enter_context(torch.passes(self._drive, self._names_of))
            if needs & {"line", "module"}:
                self._foreign.enter_context(torch.noting())
            if "step" in needs:
                self._foreign.enter_context(torch.optimizer_steps(Unchanged(self._step).phase))
        except Unsupported:  # a version that cannot be looked into: its passes run as they are
            self._foreign.close()
            self._foreign = None

    def look_again(self) -> None:
        """PyTorch may have been imported since a breakpoint was added: its passes are stopped, too.

        Example:
            >>> from vistorch.debug import Breakpoints
            >>> session = Breakpoints()
            >>> _ = session.add("nan")
            >>> session.look_again()  # before each cell of a notebook
            >>> session.clear()
        """
        if self._open is not None:
            self._listen_to_torch(self._open_for)

    def _names_of(self, run: Any) -> dict:
        return {} if self.names is None else self.names(run)

    def backward(self, run: Any, outputs: tuple) -> None:
        """Walk a pass that is about to start."""
        if run.journal is not None or run.at or mode.run is not None:
            return  # a stepper walks it already, or it is a pass within one
        with watched(run, watching()) as visit:
            self._walk(run, outputs, visit)

    def _walk(self, run: Any, outputs: tuple, visit: Any) -> None:
        from .stepper import Stepper

        names = self.names(run) if self.names is not None else None
        stepper = Stepper.of(run, names=names, outputs=outputs)
        self._drive(stepper, visit)
        run.at = len(run.order)  # undone or finished: nothing is left to run

    def _drive(self, stepper: Any, visit: Any = None) -> None:
        """Walk a pass to its end, or to where it is left."""
        points = [p for p in self if p.enabled]
        while (stop := stepper.run_to_break(points, visit=visit)) is not None:
            answer = None if self.on_stop is None else self.on_stop(stop)
            if stepper.closed and answer != "end":
                return
            if stepper.closed:
                raise Stopped(stop, f"backward {stop}; the pass was undone: no .grad has changed")
            if answer != "continue":
                raise Stopped(
                    stop,
                    f"backward {stop}; the exception's stepper walks on from there: step(), back(), finish() or undo()",
                )
        stepper.finish()

    def _step(self, optimizer: Any, names: list[str]) -> None:
        """An optimizer's step left parameters as they were."""
        point = next((p for p in self if p.enabled and p.test is not None and "step" in p.test.needs), None)
        if point is None:
            return
        point.hits += 1
        what = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        raise Stopped(None, f"{type(optimizer).__name__}.step() left as it was: {what} ({point})")


session = Breakpoints()
