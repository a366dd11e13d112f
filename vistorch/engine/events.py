"""What the engine can tell when someone listens; nothing, at one `is None` test, when nobody does.

The vocabulary, one attribute of `hear` per kind (a Listener has a method of the same name for each it wants):

- op(rule, ins, consts, outs): an op has run. Its node, if it was recorded, is `outs[0]._node`; the grad mode is
  `mode.on`; shapes, dtypes and what was broadcast are in the tensors; `where()` gives the line that called it.
- cut(kind, tensor): history ends here: "detach", "data", "item", "numpy", "tensor(t)", "requires_grad_(False)", or,
  with tensor None, "no_grad".
- write(tensor, rule): the memory of `tensor` was written; its version cell is `tensor._ver`.
- backward(run, outputs): a `backward.Pass` is about to start.
- saved(node, entry): a backward pass found that something it saved was overwritten, and is about to raise.
- phase(name, subject): what upper rooms tell of a training loop, in its order: "forward", "zero_grad", "step",
  "scheduler", "train", "eval", "init", with the module, optimizer or parameter it happened to.

A listener sees live objects: it copies what it wants to keep. Listeners run in the thread that ran the op.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType
from typing import Any

KINDS = ("backward", "cut", "op", "phase", "saved", "write")


class Hear:
    """One slot per kind of event: None, or what to call."""

    __slots__ = KINDS

    def __init__(self) -> None:
        for kind in KINDS:
            setattr(self, kind, None)


hear = Hear()
_listeners: list = []
_lock = threading.Lock()


class Listener:
    """Base of all listeners: give it methods named after the kinds it wants, then `with` it.

    Example:
        >>> import vistorch
        >>> from vistorch.engine.events import Listener
        >>> class Names(Listener):
        ...     def op(self, rule, ins, consts, outs):
        ...         print(rule.name)
        >>> x = vistorch.ones(2)
        >>> with Names():
        ...     y = (x * 2).exp()
        mul
        exp
    """

    def __enter__(self) -> Any:
        """Start to listen."""
        with _lock:
            _listeners.append(self)
            _connect()
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop listening."""
        with _lock:
            _listeners.remove(self)
            _connect()


def _connect() -> None:
    """Set each slot of `hear` to what its listeners amount to."""
    for kind in KINDS:
        told = [getattr(one, kind) for one in _listeners if hasattr(one, kind)]
        setattr(hear, kind, None if not told else told[0] if len(told) == 1 else _Several(tuple(told)))


class _Several:
    """Several listeners of one kind, in the order they came."""

    __slots__ = ("told",)

    def __init__(self, told: tuple) -> None:
        self.told = told

    def __call__(self, *args: Any) -> None:
        for one in self.told:
            one(*args)


# ---- where an op was called ------------------------------------------------------------------------------------
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_ours: dict[CodeType, bool] = {}


def where() -> tuple[CodeType, int] | None:
    """The innermost place outside vistorch on this thread's stack: (code, instruction), for `debug.source` to read.

    Kept raw because finding the line of an instruction takes longer than a small op.
    """
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        ours = _ours.get(code)
        if ours is None:
            ours = _ours[code] = code.co_filename.startswith(_HOME)
        if not ours:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


class Lines(Listener):
    """Notes the line that made each node, wrote each memory and cut each history.

    Args:
        values: also keep each node's inputs, so that it can be checked at them.
    """

    def __init__(self, values: bool = False) -> None:
        self.values = values
        self.cuts: list = []

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Note where a node was made."""
        made = outs[0]._node
        if made is None:
            return
        node = made if made.rule is rule else getattr(made, "node", made)
        if self.values:
            node.note = {"line": where(), "ins": ins, "consts": consts}
        else:
            node.note = {"line": where()}

    def write(self, tensor: Any, rule: Any) -> None:
        """Note where a memory was written."""
        tensor._ver.by = where()

    def cut(self, kind: str, tensor: Any) -> None:
        """Note where a history ended."""
        self.cuts.append((kind, None if tensor is None else tuple(tensor._data.shape), where()))
        if len(self.cuts) > 10_000:
            del self.cuts[:5_000]
