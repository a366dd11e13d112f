"""What checkpoint without reentrance leaves in a graph in place of saved values, and how it gets them back.

What the part saves is packed into empty holders; the first that backward unpacks runs the part again, which fills them
all. Invariant: a holder is known to its frame only weakly, so freeing a graph frees its frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, ref

from ..engine.base import errors
from ..engine.base.modes import enable_grad, mode
from ..engine.core.graph import UNTRACKED
from ..engine.core.hooks import saved_tensors_hooks
from ..engine.core.record import Packed, save_input, unpacked
from ..engine.core.tensor import Tensor, wrap
from ..engine.library_name import named
from ..engine.random import generators

OTHER_NUMBER = (
    "vistorch.utils.checkpoint: A different number of tensors was saved during the original forward and "
    "recomputation.\n"
    "Number of tensors saved during forward: {}\nNumber of tensors saved during recomputation: {}."
)
OTHER_KIND = (
    "vistorch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
    "during the forward pass.\n{}."
)
TOO_MANY = (
    "vistorch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
    "forward pass.\n"
)


class CheckpointError(RuntimeError):
    """The part did something else when it ran again.

    Example:
        >>> import vistorch
        >>> from vistorch.utils.checkpoint import CheckpointError, checkpoint
        >>> runs = []
        >>> def part(x):  # saves less in its second run
        ...     runs.append(x)
        ...     return x.exp().sin() if len(runs) == 1 else x.exp()
        >>> y = checkpoint(part, vistorch.ones(2, requires_grad=True), use_reentrant=False)
        >>> try:
        ...     y.sum().backward()
        ... except CheckpointError as error:
        ...     print(str(error).splitlines()[-1])
        Number of tensors saved during recomputation: 1.
    """

    __module__ = "vistorch.utils.checkpoint"


class _Stop(Exception):
    """All holders are filled: the rest of the part need not run again."""


class Chance:
    """The random states at the beginning of a part, to run it again with the same numbers."""

    def __init__(self, wanted: bool) -> None:
        self.states = self._all() if wanted else []

    def _all(self) -> list:
        known = (generators.default_generator, *generators._of_devices.values())
        return [(g, g.get_state()) for g in known]

    @contextmanager
    def again(self) -> Iterator[None]:
        """Set the states as they were then, and give the present ones back at the end."""
        kept = self._all() if self.states else []
        for g, state in self.states:
            g.set_state(state)
        try:
            yield
        finally:
            for g, state in kept:
                g.set_state(state)


class _Holder:
    """Stands in the graph for the saved value number `index`."""

    __slots__ = ("__weakref__", "index")

    def __init__(self, index: int) -> None:
        self.index = index


class Frame:
    """One call of checkpoint: what to run again, the holders it left behind and what was computed for them."""

    def __init__(
        self,
        function: Callable,
        args: tuple,
        kwargs: dict,
        chance: Chance,
        context: Any,
        check: bool,
        early: bool,
    ) -> None:
        self.function, self.chance, self.context = function, chance, context
        self.check, self.early = check, early
        self.args = [_kept(a) for a in args]
        self.kwargs = {name: _kept(a) for name, a in kwargs.items()}
        self.holders: list = []
        self.kinds: list = []
        self.ready: Any = WeakKeyDictionary()  # pass -> {index: value}

    def pack(self, t: Tensor) -> _Holder:
        """Leave a holder in place of a saved value."""
        holder = _Holder(len(self.holders))
        self.holders.append(ref(holder))
        self.kinds.append(_kind(t))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """The saved value, from running the part again if it is not there yet."""
        run = mode.run
        ready = {} if run is None else self.ready.setdefault(run, {})
        if holder.index not in ready:
            self._again(ready)
        return ready.pop(holder.index)

    def _again(self, ready: dict) -> None:
        count = 0

        def fill(t: Tensor) -> Tensor:
            nonlocal count
            index, count = count, count + 1
            if index >= len(self.holders):
                raise CheckpointError(named(TOO_MANY))
            if self.check and _kind(t) != self.kinds[index]:
                raise CheckpointError(named(OTHER_KIND).format(self._compared(index, t)))
            kept = t.detach()
            if self.holders[index]() is not None:
                ready[index] = kept
            if self.early and count == len(self.holders):
                raise _Stop
            return kept

        try:
            with enable_grad(), self.chance.again(), self.context:
                args = [_restored(a) for a in self.args]
                kwargs = {name: _restored(a) for name, a in self.kwargs.items()}
                with saved_tensors_hooks(fill, lambda t: t):
                    self.function(*args, **kwargs)
        except _Stop:
            return
        if count != len(self.holders):
            raise CheckpointError(named(OTHER_NUMBER).format(len(self.holders), count))

    def _compared(self, index: int, t: Tensor) -> str:
        names = "shape", "dtype", "device"
        saved, now = (dict(zip(names, kind, strict=True)) for kind in (self.kinds[index], _kind(t)))
        return f"tensor at position {index}:\nsaved metadata: {saved}\nrecomputed metadata: {now}"


def _kind(t: Tensor) -> tuple:
    return t.shape, t.dtype, t.device


def _kept(value: Any) -> Any:
    """An argument as a graph would save it: with its version, or packed by a checkpoint around this one."""
    if not isinstance(value, Tensor) or value._ver is UNTRACKED:
        return value
    return _Kept(save_input(value), value.requires_grad)


class _Kept:
    """A tensor argument of a part."""

    __slots__ = ("entry", "requires_grad")

    def __init__(self, entry: Any, requires_grad: bool) -> None:
        self.entry, self.requires_grad = entry, requires_grad


def _restored(value: Any) -> Any:
    """The argument again; it must not have been written since."""
    if value.__class__ is not _Kept:
        return value
    if value.entry.__class__ is Packed:
        t = unpacked(value.entry)
    else:
        t, then = value.entry
        now = 0 if t._ver is None else t._ver.n
        if now != then:
            raise RuntimeError(errors.modified(t._data, t._place, t._node, now, then))
    o = wrap(t._data, t._place)
    o.requires_grad = value.requires_grad
    return o
