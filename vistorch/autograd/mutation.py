"""Writing to tensors that a graph has saved: a copy is made of them just before.

Invariant: what backward gets is what was saved, as it was then; nothing is copied of memory that nobody writes to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from ..engine.base.events import Listener
from ..engine.base.modes import no_grad
from ..engine.core.graph import version
from ..engine.core.hooks import saved_tensors_hooks
from ..engine.core.tensor import Tensor

_OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    "in which the graph was originally recorded."
)


class _Saved:
    """What the graph holds in place of a tensor that it saves."""

    __slots__ = ("__weakref__", "copied", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor: Any = tensor
        self.copied = False


class _SavedCopies(Listener):
    """The tensors that were saved within a context; each is copied at the first write to its memory."""

    def __init__(self) -> None:
        self._saved: WeakSet[_Saved] = WeakSet()
        self._open = True

    def overwrite(self, tensor: Tensor) -> None:
        """Copy what lies in memory that is about to be written."""
        for saved in list(self._saved):
            if not saved.copied and version(saved.tensor) is version(tensor):
                with no_grad():
                    saved.tensor = saved.tensor.clone()
                saved.copied = True

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """The same for what an optimizer writes, which nothing else announces."""
        if name == "step":
            for group in subject.param_groups:
                for p in group["params"]:
                    self.overwrite(p)

    def pack(self, tensor: Tensor) -> _Saved:
        """Keep a tensor for backward."""
        saved = _Saved(tensor)
        self._saved.add(saved)
        return saved

    def unpack(self, saved: _Saved) -> Tensor:
        """The tensor as it was saved."""
        if not self._open or saved not in self._saved:
            raise AssertionError(_OUTSIDE)
        return saved.tensor

    def clear(self) -> None:
        """Forget everything: the graph can no longer be run."""
        self._open = False
        self._saved.clear()


_entered: list[_SavedCopies] = []


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_SavedCopies]:
    """Within it, a tensor that the graph has saved may be written to: backward gets a copy of what it was.

    Forward and backward have to run within the same context.

    Example:
        >>> import vistorch
        >>> a = vistorch.ones(2, requires_grad=True)
        >>> with vistorch.autograd.graph.allow_mutation_on_saved_tensors():
        ...     b = a.clone()
        ...     out = (b**2).sum()
        ...     _ = b.sin_()
        ...     out.backward()
        >>> a.grad
        tensor([2., 2.])
    """
    if _entered:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    copies = _SavedCopies()
    _entered.append(copies)
    try:
        with saved_tensors_hooks(copies.pack, copies.unpack), copies:
            yield copies
    finally:
        _entered.remove(copies)
        copies.clear()
