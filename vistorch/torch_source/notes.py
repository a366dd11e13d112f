"""Which line and which module made a node: what is noted at it while `Noting` is active.

The note lies in the node's own `metadata`, so it goes with the graph and keeps none alive; a module is held weakly. The
place is raw (code, instruction), as the engine's listeners have it. A node that torch made inside another function, and
one that an op made besides its last, has the note of the call that a person wrote.

Invariant: a node is noted once, by the call that made it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet, ref

from ..debug.graph.module_calls import Call
from ..engine.base.home import HOME
from . import private, threads
from .real import torch

KEY = "vistorch"
NORMS = "vistorch norms"
_TORCH = tuple([path.rstrip("/\\") + "/" for path in torch.__path__])
_SKIPPED: dict[str, bool] = {}  # by file: whether its lines are torch's or ours
Tensor, next_sequence, compiling = torch.Tensor, private.next_sequence, private.compiling
LARGEST = 200  # nodes of one op that are looked for


def noted(node: Any) -> tuple[Any, Call | None] | None:
    """The note of a node: (place, call of a module); None if nobody looked when it was made."""
    return node.metadata.get(KEY) if not hasattr(node, "variable") else None


def place_of(node: Any) -> Any:
    """Where the line stands that made a node."""
    found = noted(node)
    return None if found is None else found[0]


def norms_of(node: Any) -> list[float | None]:
    """The norm of what a node sent along each edge, as the newest pass that was looked at had it.

    A gradient that is one real number keeps its sign.
    """
    return [None if size is None else float(size) for size in node.metadata.get(NORMS, ())]


def where() -> Any:
    """The innermost place in the user's code, as (code, instruction); None where there is none."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        skipped = _SKIPPED.get(name)
        if skipped is None:
            skipped = _SKIPPED[name] = name.startswith((*_TORCH, HOME, "<frozen"))
        if not skipped:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


class Lines(torch.overrides.TorchFunctionMode):
    """Sees each call of a function of torch, and notes its line at the nodes that it made."""

    def __init__(self, modules: Modules) -> None:
        super().__init__()
        self.modules, self.leaving = modules, False

    @private.uncompiled
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # torch.compile reads this function, too: it shall find nothing to break its graph at
        if self.leaving or compiling():
            return func(*args, **kwargs) if kwargs else func(*args)
        begun = next_sequence()
        out = func(*args, **kwargs) if kwargs else func(*args)
        made = next_sequence() - begun
        if made == 1 and out.__class__ is Tensor:  # most ops: one node, and it is the result's
            node = out.grad_fn
            if node is not None and private.sequence(node) == begun:
                node.metadata[KEY] = (where(), self.modules.call)
                return out
        if made:
            self._note(out if out is not None or not args else args[0], begun)
        return out

    def _note(self, out: Any, begun: int) -> None:
        note = None
        for t in out if isinstance(out, (tuple, list)) else (out,):
            node = t.grad_fn if isinstance(t, torch.Tensor) else None
            if node is None or private.sequence(node) < begun:
                continue
            if note is None:
                note = (where(), self.modules.call)
            waiting, looked = [node], 0
            while waiting and looked < LARGEST:
                looked += 1
                n = waiting.pop()
                data = n.metadata
                if KEY in data:
                    continue
                data[KEY] = note
                if private.sequence(n) > begun:  # others of this op may be below it
                    for below, _ in n.next_functions:
                        if below is not None and begun <= private.sequence(below) < 1 << 63:
                            waiting.append(below)


class _Here(threading.local):
    """The call of a module that runs in this thread."""

    call: Call | None = None


class Modules:
    """Knows which module runs now, in each thread."""

    def __init__(self) -> None:
        self._here = _Here()
        self.handles: list[Any] = []
        self.count = 0
        self.leave: Callable[[], None] | None = None  # what was asked to end, and could not yet

    @property
    def call(self) -> Call | None:
        """The call that runs now in this thread."""
        return self._here.call

    def start(self) -> None:
        """Begin."""
        self.handles = private.on_module_call(self._begin, self._end)

    def stop(self) -> None:
        """End."""
        for handle in self.handles:
            handle.remove()
        self.handles, self._here = [], _Here()

    def _begin(self, module: Any, args: Any) -> None:
        if self.leave is not None:
            self.leave()
        if compiling() or not self.handles:
            return
        self.count += 1
        here = self._here
        place = where() if here.call is None else here.call.place
        here.call = Call(self.count, ref(module), here.call, 0, place)

    def _end(self, module: Any, args: Any, out: Any) -> None:
        if compiling():
            return
        here = self._here
        call = here.call
        while call is not None and call.module() is not module:
            call = call.parent
        here.call = None if call is None else call.parent


class Noting:
    """Notes lines and modules while it is active.

    A mode can be left only while it is the innermost one, and not from inside of a function that it sees, such as
    `backward`: then it does nothing more, and is left when the next module is called.
    """

    def __init__(self) -> None:
        self.modules = Modules()
        self.lines = Lines(self.modules)
        self.elsewhere: WeakSet[Lines] = WeakSet()  # of other threads
        self.active = False

    def start(self) -> None:
        """Begin; again is no harm."""
        self._leave(False)
        self.modules.leave = None
        if not self.active:
            self.active = True
            self.modules.start()
            self.lines.__enter__()
            self.end = threads.follow(self._follow)

    def _follow(self) -> Lines:
        """The lines of a thread that begins."""
        lines = Lines(self.modules)
        lines.leaving = self.lines.leaving
        self.elsewhere.add(lines)
        return lines

    def _leave(self, leaving: bool) -> None:
        for lines in (self.lines, *self.elsewhere):
            lines.leaving = leaving

    def stop(self) -> None:
        """End, if that can be done now."""
        if not self.active:
            return
        if private.top_mode() is not self.lines:
            self._leave(True)
            self.modules.leave = self.stop
            return
        self._leave(True)
        self.end()
        self.lines.__exit__(None, None, None)
        self.modules.stop()
        self.modules.leave, self.active = None, False

    def __enter__(self) -> Noting:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()
