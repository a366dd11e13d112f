"""Which module made a node: a log of module calls, each with the numbers that nodes drew while it ran.

Nodes are numbered as they are made, so a call needs to note only where the count stood when it began and when it ended:
nothing is done per op, and a graph that was recorded long ago still finds its modules.

Numbers do not tell threads apart: calls that ran at once in two threads are not relied upon.

Invariant: the log keeps no module alive, and no more than `KEPT` calls.
"""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_right
from collections import deque
from typing import Any

from ...engine.events import Listener, where
from ...engine.graph import draw

KEPT = 50_000  # calls: some thousand steps of a small network, some hundred of a large one
OPEN = float("inf")


class Call:
    """One call of a module: nodes numbered from `begin` to `end` were made in it.

    `failed` says that it ended by an exception, `place` where the outermost call stands in the user's code.
    """

    __slots__ = ("begin", "end", "failed", "kind", "module", "parent", "place", "thread")

    def __init__(self, module: Any, parent: Call | None, thread: int) -> None:
        self.module = weakref.ref(module)
        self.kind = type(module).__name__
        self.parent, self.thread = parent, thread
        self.begin: float = draw()
        self.end: float = OPEN
        self.failed = False
        self.place: Any = None

    def around(self) -> list[Call]:
        """This call and those it was made in, outermost first."""
        found, call = [], self
        while call is not None:
            found.append(call)
            call = call.parent
        return found[::-1]


class _Log(Listener):
    """The one log of the process."""

    def __init__(self) -> None:
        self.calls: deque[Call] = deque(maxlen=KEPT)
        self.open = 0
        self.running = threading.local()

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        if name == "forward":
            stack = self._stack()
            call = Call(subject, stack[-1] if stack else None, threading.get_ident())
            if not stack:
                call.place = where(2)
            stack.append(call)
            self.calls.append(call)
        elif name == "forward_end":
            stack = self._stack()
            # who starts to listen in the middle of a forward pass is told of ends without a beginning
            if stack and stack[-1].module() is subject:
                call = stack.pop()
                call.end = draw()
                call.failed = details[0] is None

    def _stack(self) -> list[Call]:
        try:
            return self.running.stack
        except AttributeError:
            stack = self.running.stack = []
            return stack


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
            _log.calls.clear()

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
                _log.running = threading.local()
                for call in _log.calls:  # nobody will tell of their ends
                    if call.end == OPEN:
                        call.end = draw()

    start = __enter__

    def stop(self) -> None:
        """Stop listening."""
        self.__exit__()


class Found:
    """Answers which call a node was made in, from the log as it is now."""

    def __init__(self) -> None:
        threads: dict[int, list[Call]] = {}
        for call in list(_log.calls):
            threads.setdefault(call.thread, []).append(call)
        self.threads = [(calls, [c.begin for c in calls]) for calls in threads.values()]
        self.doubtful = _at_once([c for calls, _ in self.threads for c in calls if c.parent is None])

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
