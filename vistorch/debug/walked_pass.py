"""What every backward pass that is walked can do, whichever library it belongs to: move both ways, stop, be left.

A subclass runs one node (`_advance`), takes steps back (`take_back_to`), and says what a step was (`_frame`,
`_moment`); everything that moves more than one step is written here.

Invariant: an exception leaves a pass in front of the step that raised it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .breaks.moment import Moment
from .breaks.points import Stop, breakpoints_of
from .source import Nodes
from .step_record import Frame


class WalkedPass:
    """A backward pass that stands still until it is moved."""

    reads: Nodes  # how its nodes are read
    nodes: list[Any]
    number: dict[Any, int]
    outputs: tuple
    names: dict[Any, str]
    modules: Any  # of a node: the path of the module that made it, or None
    _done = False
    _stopped: Any = None  # the node before which a breakpoint stopped: to go on is to run it

    # ---- what a library does --------------------------------------------------------------------------------
    @property
    def source(self) -> Any:
        """The library that the pass belongs to."""
        raise NotImplementedError

    @property
    def position(self) -> int:
        """How many steps have been taken."""
        raise NotImplementedError

    @property
    def ran(self) -> list:
        """The nodes of the steps taken, oldest first."""
        raise NotImplementedError

    @property
    def next_node(self) -> Any:
        """The node that the next step will run, or None at the end."""
        raise NotImplementedError

    @property
    def has_hooks(self) -> bool:
        """Whether hooks run at a node of the pass."""
        raise NotImplementedError

    @property
    def _newest(self) -> Any:
        """The node of the newest step."""
        raise NotImplementedError

    def _advance(self) -> bool:
        """Run one node; False at the end of the pass."""
        raise NotImplementedError

    def _frame(self) -> Frame:
        """The newest step."""
        raise NotImplementedError

    def _moment(self) -> Moment:
        """The newest step as conditions see it."""
        raise NotImplementedError

    def _visited(self) -> tuple:
        """What a visitor of the newest step is called with."""
        raise NotImplementedError

    def _settle(self) -> None:
        """Leave things as a plain pass that has run to its end would have left them."""
        raise NotImplementedError

    def _close(self) -> None:
        """Let go of the way back."""
        raise NotImplementedError

    def take_back_to(self, position: int) -> None:
        """Take steps back until so many are left, without looking at them."""
        raise NotImplementedError

    def pending(self) -> dict:
        """The gradients that wait now, by node number; a list for a node with several outputs."""
        raise NotImplementedError

    def incoming(self, node: Any) -> Any:
        """The gradient that came into a node, or that waits for it; None if none has come yet."""
        raise NotImplementedError

    def _node_asked(self, node: Any) -> Any:
        """A node that was named by itself, its number, or a tensor."""
        raise NotImplementedError

    # ---- where it stands ------------------------------------------------------------------------------------
    says = ""  # a sentence about the whole, for a record of it

    def gradient(self, tensor: Any) -> Any:
        """A leaf's `.grad` where the pass stands."""
        return self.source.gradient(tensor)

    @property
    def count(self) -> int:
        """How many nodes the pass has."""
        return len(self.nodes)

    @property
    def closed(self) -> bool:
        """Whether the pass was finished or undone."""
        return self._done

    @property
    def frame(self) -> Frame | None:
        """The newest step, or None at the beginning."""
        return self._frame() if self.position else None

    # ---- moving ---------------------------------------------------------------------------------------------
    def step(self) -> Frame | None:
        """Run one node; None when the pass has come to its end. An exception leaves the state before the step."""
        return self.frame if self._advance() else None

    def back(self) -> Frame | None:
        """Take the newest step back; returns the frame before it, or None at the beginning."""
        self.take_back_to(self.position - 1)
        return self.frame

    def first(self) -> None:
        """Take all steps back."""
        self.take_back_to(0)

    def last(self) -> Frame | None:
        """Run all nodes that are left, still able to go back."""
        while self._advance():
            pass
        return self.frame

    def run_to(self, node: Any) -> Frame | None:
        """Move, forwards or backwards, until a node is the newest step.

        Args:
            node: the node, its number (negative ones count from the end), or a tensor: its grad_fn, or its leaf.

        Returns:
            Its frame; None if no gradient reaches the node: then the stepper stands where it would have run.
        """
        number = self._number_of(node)
        while self.position and self.number[self._newest] > number:
            self.back()
        while not self.position or self.number[self._newest] < number:
            following = self.next_node
            if following is None or self.number[following] > number or not self._advance():
                return None
        return self.frame

    def _number_of(self, node: Any) -> int:
        asked = self._node_asked(node)
        number = asked if isinstance(asked, int) else self.number.get(asked)
        if number is None or not -self.count <= number < self.count:
            shape = getattr(node, "shape", None) if asked is not node else None
            what = repr(node) if shape is None else f"a tensor of shape {tuple(shape)}"
            raise ValueError(f"no such node in this pass: {what}; it has nodes 0 to {self.count - 1}")
        return number % self.count

    def run_until(self, condition: Callable[[Frame], bool]) -> Frame | None:
        """Step until `condition(frame)` holds; None if the pass ends first."""
        while (f := self.step()) is not None:
            if condition(f):
                return f
        return None

    def run_to_break(self, breakpoints: Any, *, visit: Callable | None = None) -> Stop | None:
        """Run until a breakpoint holds, and stand *before* the node it holds of: nothing has used its result.

        To run again goes on past that node.

        Args:
            breakpoints: one or several of: a condition as text, a function of a Frame, a Breakpoint.
            visit: called with what `_visited` says of each node that ran.

        Returns:
            What stopped it; None at the end of the pass.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Stepper
            >>> x = vistorch.tensor([0.0, 1.0], requires_grad=True)
            >>> stop = (s := Stepper(x.sqrt().sum())).run_to_break("bad")
            >>> print(stop)
            stopped before SqrtBackward0: bad
            >>> s.position
            1
        """
        points = breakpoints_of(breakpoints)
        following = self.next_node
        passing = self._stopped if following is self._stopped else None
        self._stopped = None
        while self._advance():
            node = self._newest
            if node is passing:
                continue
            if visit is not None:  # the one that was stopped at was visited then
                visit(*self._visited())
            try:
                moment = self._moment()
                held = next((p for p in points if p.holds(moment, self)), None)
            except BaseException:  # a predicate that fails has not let the node pass
                self.back()
                raise
            if held is not None:
                stop = Stop(held, self.frame, self)
                self.back()
                self._stopped = node
                return stop
        return None

    # ---- leaving --------------------------------------------------------------------------------------------
    def finish(self) -> None:
        """Run to the end and let go of the way back, as a plain `backward()` would have left things."""
        while self._advance():
            pass
        self._settle()
        self._done = True
        self._close()

    def undo(self) -> None:
        """Take everything back: no `.grad` has changed, and the graph can be used again."""
        self.first()
        self._done = True
        self._close()

    def _open(self) -> None:
        if self._done:
            raise RuntimeError("this stepper was finished or undone; make a new one to walk again")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, *exc: object) -> None:
        """Leave: finish the pass, or undo it after an exception."""
        if not self._done:
            self.finish() if kind is None else self.undo()
