"""The events that the engine emits to listeners; without one, an event costs one `is None` test.

The vocabulary, one attribute of `listeners` per kind (a Listener has a method of the same name for each it wants):

- op(rule, ins, consts, outs): an op has run, recorded or not; emitted after its outputs have their history. `rule` is a
  row, or for a custom function something with a row's `name`, `inputs` and `consts`. `ins` are tensors and plain
  numbers, `outs` tensors. The node, if it was recorded, is an output's `grad_fn`; the grad mode is `mode.on`; shapes,
  dtypes and what was broadcast are in the tensors; `where()` gives the place that called it.
- cut(kind, tensor): history ends here: "detach", "data", "item", "tolist", "numpy", "tensor(t)",
  "requires_grad_(False)" (emitted while it still is True), or, with tensor None, "no_grad" and "inference_mode".
- overwrite(tensor): the memory of `tensor` is about to be written, by an op or an assignment; the write may still be
  refused. An optimizer's writes are announced by its "step", those of clipped gradients by "clip" (below).
- write(tensor, rule): the memory of `tensor` was written, by that row if one is known; its version cell is
  `tensor._ver`.
- backward(run, outputs): a `backward.Pass` is about to start; backward_end(run, outputs): it is over, and has not
  raised. What a pass freed is gone by then, gradients have arrived.
- data(tensor, name): a tensor was made from what no op made: numbers, an array of numpy, another library's memory; by
  "tensor", "as_tensor", "from_numpy" and their like; or of random numbers, by "rand", "randn", "normal". A
  batch that a loader collates is reported by its loader.
- drew(name, input, training, chance): a dropout (by its name) or "batch_norm" ran, and whether as in training; `chance`
  of an element to be dropped, None of a norm. The functional forms emit it too; so does attention that drops weights,
  by "attention_dropout".
- made(what, subject, *details): something that lasts was made: "module", "optimizer", "scheduler" or "loader" (the
  subject, its options there, its own fields perhaps not yet), or "parameter" (module, name, parameter): it was
  registered.
- saved(node, entry, error): a backward pass found that something it saved was overwritten; `error` is about to be
  raised.
- phase(name, subject, *details): what upper packages report of a training loop, in its order, with the module,
  optimizer or parameter it happened to: "forward" (module, args, kwargs) and "forward_end" (module, result; None if
  it raised), between which everything happens in that module; "zero_grad", "step", "step_end" and "scheduler"
  (optimizer or scheduler, which may be followed by the measure it was given); "load" (module, the state dict it is
  about to take); "train" and "eval" (module, after its children); "init" (tensor, name of the function);
  "clip" (a list of parameters, the limit): their gradients are about to be clipped; "seed" (the default generator,
  the seed it is about to be set to); "grads" (a tuple of outputs, a list of their gradients, which have no history,
  a tuple of what these are of);
  "loss" (name of a loss function whose ops do not say what they compare, predictions, targets, "exp" where the
  predictions are logarithms, else "", loss); "signs" (name of a loss function, its targets, which should be 1 and -1);
  "no leaf" (the result of an op whose `.grad`, which no pass fills, is read);
  "copied" (a tensor, another whose values were just written into it at once, with no op that says so);
  "settled" (a tensor, the array it had: its numbers lie in another array now);
  "loader" (DataLoader, its iterator) and "loader_end" (DataLoader; an epoch: from `iter` to the last batch, or to the
  end of the iterator if it is left before; None at the end of one whose loader is gone, which only one with
  persistent workers can be).

A listener gets the events of all threads, each in the thread it happened in, and sees live objects: it copies what it
wants to keep. What it raises reaches the user's line, after all other listeners were called. Invariant: an emitter
reads its slot once (`if (emit := listeners.op) is not None: emit(...)`), because another thread may stop to listen
meanwhile.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType
from typing import Any

from .home import HOME

KINDS = (
    "backward",
    "backward_end",
    "cut",
    "data",
    "drew",
    "made",
    "op",
    "overwrite",
    "phase",
    "saved",
    "write",
)


class Slots:
    """One slot per kind of event: None, or what to call."""

    __slots__ = KINDS
    backward: Any
    backward_end: Any
    cut: Any
    data: Any
    drew: Any
    made: Any
    op: Any
    overwrite: Any
    phase: Any
    saved: Any
    write: Any

    def __init__(self) -> None:
        for kind in KINDS:
            setattr(self, kind, None)


listeners = Slots()
_listeners: list = []
_lock = threading.Lock()


class Listener:
    """Base of all listeners: give it methods named after the kinds it wants, then `with` it.

    Several may listen at once, start and stop in any order; one that is entered twice is called twice. One with `first`
    is called before those that have not: it sees a pass before anybody who runs it.

    Example:
        >>> import vistorch
        >>> from vistorch.engine.base.events import Listener
        >>> class Names(Listener):
        ...     def op(self, rule, ins, consts, outs):
        ...         print(rule.name)
        >>> x = vistorch.ones(2)
        >>> with Names():
        ...     y = (x * 2).exp()
        mul
        exp
    """

    first = False

    def __enter__(self) -> Any:
        """Start to listen."""
        with _lock:
            _listeners.insert(0 if self.first else len(_listeners), self)
            _connect()
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop listening."""
        with _lock:
            for i in reversed(range(len(_listeners))):
                if _listeners[i] is self:
                    del _listeners[i]
                    break
            _connect()


def _connect() -> None:
    """Set each slot of `listeners` to what its listeners amount to."""
    for kind in KINDS:
        methods = [getattr(one, kind) for one in _listeners if hasattr(one, kind)]
        setattr(
            listeners,
            kind,
            None if not methods else methods[0] if len(methods) == 1 else _Several(tuple(methods)),
        )


class _Several:
    """Several listeners of one kind, in the order they came."""

    __slots__ = ("methods",)

    def __init__(self, methods: tuple) -> None:
        self.methods = methods

    def __call__(self, *args: Any) -> None:
        failure = None
        for one in self.methods:
            try:
                one(*args)
            except BaseException as exc:
                failure = failure or exc
        if failure is not None:
            raise failure


# ---- where an op was called ------------------------------------------------------------------------------------
_HERE = os.path.abspath(__file__)
_DEBUG = os.path.join(HOME, "debug") + os.sep
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = ("site-packages", "dist-packages")  # which may stand in the library's folder
OUTSIDE, ENGINE, BETWEEN = range(3)
_kinds: dict[str, int] = {}  # by file name: two equal code objects may stand in different files
_passed: tuple[str, ...] = ()  # folders of libraries that are looked past, as Python's own is


def look_past(folder: str) -> None:
    """Take no line of a library for a place of the user's, from now on: who called it is.

    Args:
        folder: of the library.
    """
    global _passed
    folder = os.path.join(folder, "")
    if folder not in _passed:
        _passed = (*_passed, folder)
        for name in [name for name in _kinds if name.startswith(folder)]:
            del _kinds[name]


def kind_of(name: str) -> int:
    """Whose file it is: `OUTSIDE` is the user's, `ENGINE` and `BETWEEN` are not.

    Args:
        name: of the file, as its code has it.
    """
    found = _kinds.get(name)
    return _kind(name) if found is None else found


def _kind(name: str) -> int:
    if name.startswith(HOME):
        found = BETWEEN if name == _HERE or name.startswith(_DEBUG) else ENGINE
    elif name.startswith(_passed):
        found = BETWEEN
    elif name.startswith(_LIBRARY) and name[len(_LIBRARY) :].split(os.sep)[0] not in _INSTALLED:
        found = BETWEEN  # Python's own: who calls `deepcopy` wants to see that line, and a thread begins in no line
    else:
        found = OUTSIDE
    _kinds[name] = found
    return found


def where(known: int = 0) -> tuple[CodeType, int] | None:
    """The place outside vistorch that made the event happen: (code, instruction), for `debug.line_lookup` to read.

    It is the innermost one above the emitter, so a listener may ask wherever it was written itself. Kept raw because
    finding the line of an instruction takes longer than a small op. None outside of an event.

    Args:
        known: 2 from a listener's own method, without a frame between: it and the emitter need not be looked at. To
            make a frame visible costs more than all else here.
    """
    frame: Any = sys._getframe(1 + known)
    methods = known > 0
    while frame is not None:
        code = frame.f_code
        kind = _kinds.get(code.co_filename)
        if kind is None:
            kind = _kind(code.co_filename)
        if kind == ENGINE:
            methods = True
        elif methods and kind == OUTSIDE:
            return code, frame.f_lasti
        frame = frame.f_back
    return None
