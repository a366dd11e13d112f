"""Which module made a node: a log of module calls, each with the numbers that nodes drew while it ran.

Nodes are numbered as they are made, so a call needs to note only where the count stood when it began and when it ended:
nothing is done per op, and a graph that was recorded long ago still finds its modules. What is noted is raw; calls are
made of it when a graph is captured.

Numbers do not tell threads apart: calls that ran at once in two threads are not relied upon.

Invariant: the log keeps no module alive, and no more than `KEPT` events.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from threading import get_ident
from typing import Any
from weakref import ref

from ...engine.base.events import Listener, where
from ...engine.core.graph import draw

KEPT = 40_000  # two a call: some thousand steps of a small network, some hundred of a large one
OPEN = float("inf")
OUTERMOST, INNER, END, STOPPED = range(4)


class Call:
    """One call of a module: nodes numbered from `begin` to `end` were made in it.

    `place` says where the outermost call stands in the user's code.
    """

    __slots__ = ("begin", "end", "module", "parent", "place", "thread")

    def __init__(self, begin: float, module: Any, parent: Call | None, thread: int, place: Any) -> None:
        self.begin, self.end = begin, OPEN
        self.module = module  # a weak reference
        self.parent, self.thread, self.place = parent, thread, place

    def around(self) -> list[Call]:
        """This call and those it was made in, outermost first."""
        found, call = [], self
        while call is not None:
            found.append(call)
            call = call.parent
        return found[::-1]


class _Log(Listener):
    """The one log of the process: (what, number, module, thread, place) of each beginning and end."""

    def __init__(self) -> None:
        self.events: deque[tuple] = deque(maxlen=KEPT)
        self.open = 0
        self.depth: dict[int, int] = {}  # by thread

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        if name == "forward":
            thread = get_ident()
            depth = self.depth.get(thread, 0)
            self.depth[thread] = depth + 1
            if depth:
                self.events.append((INNER, draw(), ref(subject), thread, None))
            else:
                self.events.append((OUTERMOST, draw(), ref(subject), thread, where(2)))
        elif name == "forward_end":
            thread = get_ident()
            depth = self.depth.get(thread, 0)
            # who starts to listen in the middle of a forward pass gets ends without a beginning
            if depth > 1:
                self.depth[thread] = depth - 1
                self.events.append((END, draw(), None, thread, None))
            elif depth:
                del self.depth[thread]
                self.events.append((END, draw(), None, thread, None))


_log = _Log()
_lock = threading.Lock()


class Calls:
    """While it listens, graphs that are recorded know the module of each node.

    Args:
        forget: let go of the calls that were noted before.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.graph import Calls, capture
        >>> net = vistorch.nn.Sequential(vistorch.nn.Linear(3, 2), vistorch.nn.Tanh())
        >>> with Calls():
        ...     loss = net(vistorch.ones(1, 3)).sum()
        >>> [g.path for g in capture(loss, modules=net).groups]
        ['1', '0']
    """

    def __init__(self, forget: bool = False) -> None:
        if forget:
            _log.events.clear()

    def __enter__(self) -> Calls:
        """Start to listen."""
        with _lock:
            _log.open += 1
            if _log.open == 1:
                Listener.__enter__(_log)
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop listening; what was noted stays."""
        with _lock:
            _log.open -= 1
            if _log.open == 0:
                Listener.__exit__(_log)
                if _log.depth:  # no event will come for these calls' ends
                    _log.depth.clear()
                    _log.events.append((STOPPED, draw(), None, 0, None))

    start = __enter__

    def stop(self) -> None:
        """Stop listening."""
        self.__exit__()


class Found:
    """Answers which call a node was made in, from the log as it is now."""

    def __init__(self, first: float = 0) -> None:
        """Read the log back to a node's number, and to where all calls that were running then began."""
        needed: list[tuple] = []
        running = dict(_log.depth)  # beginnings that are still to be met, by thread
        for event in reversed(list(_log.events)):
            what, number, _, thread, _ = event
            if number < first and not running:
                break
            needed.append(event)
            if what == END:
                running[thread] = running.get(thread, 0) + 1
            elif what != STOPPED and thread in running:
                running[thread] -= 1
                if not running[thread]:
                    del running[thread]
        self.threads: list[tuple[list[Call], list[float]]] = []
        calls = self._calls(reversed(needed))
        for thread in dict.fromkeys(c.thread for c in calls):
            mine = [c for c in calls if c.thread == thread]
            self.threads.append((mine, [c.begin for c in mine]))
        self.doubtful = _at_once([c for c in calls if c.parent is None])

    def _calls(self, events: Any) -> list[Call]:
        stacks: dict[int, list[Call]] = {}
        found: list[Call] = []
        for what, number, module, thread, place in events:
            if what == STOPPED:
                for stack in stacks.values():
                    for call in stack:
                        call.end = number
                stacks.clear()
                continue
            stack = stacks.setdefault(thread, [])
            if what == END:
                if stack:
                    stack.pop().end = number
                continue
            if what == OUTERMOST:
                stack.clear()
            stack.append(Call(number, module, stack[-1] if stack else None, thread, place))
            found.append(stack[-1])
        return found

    def call(self, seq: float) -> Call | None:
        """The innermost call in which the node with this number was made; None if that is not certain.

        Args:
            seq: the node's number.
        """
        for calls, begins in self.threads:
            i = bisect_right(begins, seq) - 1
            call = calls[i] if i >= 0 else None
            while call is not None and call.end <= seq:
                call = call.parent
            if call is not None:
                return None if self.doubtful and call.around()[0] in self.doubtful else call
        return None


def _at_once(outermost: list[Call]) -> set[Call]:
    """Calls that ran while another thread was in a module, too: a number does not say whose node it is."""
    found: set[Call] = set()
    newest: Call | None = None  # the one that ends last so far
    for call in sorted(outermost, key=lambda c: c.begin):
        if newest is not None and call.begin < newest.end:
            found |= {call, newest}
        if newest is None or call.end > newest.end:
            newest = call
    return found
