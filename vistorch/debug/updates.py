"""What the last step of an optimizer added to a parameter, for the parameters that were asked about.

Nobody listening costs nothing. Once `remember(p)` was called, each step keeps a copy of those parameters from before it
and the difference after it; nothing else is copied. At most 64 parameters are remembered: asking for one more forgets
the one that was asked for longest ago. A cell that is run again makes new parameters under the same name: `follow`
takes a name, and looks at each step for what it stands for then.
Invariant: no parameter is kept alive by being remembered; when the last is gone, and no name is followed, nobody
listens any more.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ..engine.base.events import Listener
from .source import is_torch

MOST = 64


class _Kept:
    """One remembered parameter: its values before the step that runs, the last difference, how many steps."""

    __slots__ = ("before", "difference", "parameter", "steps")

    def __init__(self, parameter: Any, gone: Any) -> None:
        self.parameter = weakref.ref(parameter, gone)
        self.before: Any = None
        self.difference: Any = None
        self.steps = 0


class _Steps(Listener):
    """Listens to optimizers."""

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Copy before a step, subtract after it."""
        if name not in ("step", "step_end"):
            return
        if name == "step" and _followed:
            _look_again()
        for group in subject.param_groups:
            for p in group["params"]:
                kept = _kept.get(id(p))
                if kept is None or kept.parameter() is not p:
                    continue
                with p._place:  # cupy copies to the current device
                    _note(kept, p, name == "step")


def _note(kept: _Kept, p: Any, begins: bool) -> None:
    """One parameter before or after a step."""
    if begins:
        kept.before = p._data.copy()
    elif kept.before is not None:
        before, kept.before = kept.before, None
        if before.shape == p._data.shape and before.dtype == p._data.dtype:
            kept.difference = p._data - before, p._place
            kept.steps += 1


_kept: dict[int, _Kept] = {}
_followed: dict[str, Callable[[], Iterable[Any]]] = {}
_steps = _Steps()
_listening = False
_lock = threading.RLock()  # a parameter may be freed while this thread holds it


def remember(parameter: Any) -> None:
    """Keep what the next steps add to a parameter.

    Args:
        parameter: a tensor that an optimizer holds.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.updates import last_update, remember
        >>> w = vistorch.nn.Parameter(vistorch.ones(2))
        >>> opt = vistorch.optim.SGD([w], lr=0.5)
        >>> remember(w)
        >>> w.sum().backward()
        >>> opt.step()
        >>> last_update(w)
        tensor([-0.5000, -0.5000])
    """
    if is_torch(parameter):
        return
    key = id(parameter)
    with _lock:
        kept = _kept.pop(key, None)
        if kept is None or kept.parameter() is not parameter:
            kept = _Kept(parameter, lambda _: _forget(key))
        _kept[key] = kept
        while len(_kept) > MOST:
            del _kept[next(iter(_kept))]
        _listen()


def follow(name: str, parameters: Callable[[], Iterable[Any]]) -> None:
    """Remember the parameters that a name stands for, at each step those of that moment.

    Args:
        name: the name; following it anew replaces what was asked for it before.
        parameters: gives the parameters; what it raises means that there are none now.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.updates import follow, last_update
        >>> notebook = {"w": vistorch.nn.Parameter(vistorch.ones(2))}
        >>> follow("w", lambda: [notebook["w"]])
        >>> notebook["w"] = vistorch.nn.Parameter(vistorch.zeros(2))  # as a cell does that is run again
        >>> notebook["w"].sum().backward()
        >>> vistorch.optim.SGD([notebook["w"]], lr=0.5).step()
        >>> last_update(notebook["w"])
        tensor([-0.5000, -0.5000])
    """
    with _lock:
        _followed.pop(name, None)
        _followed[name] = parameters
        while len(_followed) > MOST:
            del _followed[next(iter(_followed))]
        _listen()


def forget(parameter: Any = None) -> None:
    """Stop keeping what steps add to a parameter, or to any.

    Args:
        parameter: the one; None for all, and for all names.
    """
    with _lock:
        if parameter is None:
            _kept.clear()
            _followed.clear()
        else:
            _kept.pop(id(parameter), None)
        _listen()


def remembered(parameter: Any) -> bool:
    """Whether steps are kept for this parameter."""
    kept = _kept.get(id(parameter))
    return kept is not None and kept.parameter() is parameter


def last_update(parameter: Any) -> Any:
    """What the last step added to a parameter, as a tensor; None if no step was seen.

    Args:
        parameter: a parameter that was given to `remember`.
    """
    from ..engine.core.tensor import wrap

    kept = _kept.get(id(parameter))
    if kept is None or kept.parameter() is not parameter or kept.difference is None:
        return None
    return wrap(*kept.difference)


def why_none(parameter: Any) -> str:
    """Why there is no last update to show, and what gives one.

    Args:
        parameter: a parameter of which `last_update` gave None.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.updates import remember, why_none
        >>> w = vistorch.nn.Parameter(vistorch.ones(2))
        >>> why_none(w)
        'no update: steps are not kept; debug.updates.remember(parameter) keeps them from the next one on'
        >>> remember(w)
        >>> why_none(w)
        'no update: steps are kept from the first look at a parameter on, and none came since; look again after one'
    """
    if is_torch(parameter):
        return "no update: steps of PyTorch's optimizers are not kept"
    if remembered(parameter):
        return (
            "no update: steps are kept from the first look at a parameter on, and none came since; "
            "look again after one"
        )
    return "no update: steps are not kept; debug.updates.remember(parameter) keeps them from the next one on"


def steps_seen(parameter: Any) -> int:
    """How many steps were seen since `remember`."""
    kept = _kept.get(id(parameter))
    return kept.steps if kept is not None and kept.parameter() is parameter else 0


def _forget(key: int) -> None:
    """A parameter is gone; another one may have its id already."""
    with _lock:
        kept = _kept.get(key)
        if kept is not None and kept.parameter() is None:
            del _kept[key]
            _listen()


def _look_again() -> None:
    """Remember what the followed names stand for now."""
    for parameters in list(_followed.values()):
        try:
            new = [p for p in parameters() if not remembered(p)]
        except Exception:  # the name is gone, or its object answers with an error: there is nothing to keep
            continue
        for p in new:
            remember(p)


def _listen() -> None:
    """Listen while there is something to remember."""
    global _listening
    wanted = bool(_kept or _followed)
    if wanted != _listening:
        _listening = wanted
        if wanted:
            _steps.__enter__()
        else:
            _steps.__exit__()
