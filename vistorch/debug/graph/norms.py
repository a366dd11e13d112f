"""How large the gradients of a pass were, edge by edge: noted at the nodes while the pass runs.

The gradients that wait in a pass stand in a dict; while this listens, one that looks at what is put into it. The pass
computes the same numbers in the same order, and `.grad` of leaves is added to as always.

Invariant: nothing but numbers is kept, and with them no tensor and no graph.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

import numpy as np

from ...engine.base.events import Listener
from ...engine.core.graph import Out
from ...engine.core.tensor import Tensor
from ..lines import note_of


class Norms(Listener):
    """While it listens, backward passes note the norm of the gradient on each edge.

    Args:
        share: at most this share of the time since it first began is spent on looking: passes that would be too
            many are not looked at. The first one always is, and the first after `renew`. None: no limit.

    Example:
        >>> import vistorch
        >>> from vistorch.debug.graph import Norms, capture
        >>> x = vistorch.ones(4, requires_grad=True)
        >>> loss = (x * 3).sum()
        >>> with Norms():
        ...     loss.backward()
        >>> [e.norm for e in capture(loss).edges]
        [2.0, 6.0]
    """

    def __init__(self, share: float | None = None) -> None:
        self.share = share
        self.spent = 0.0
        self.since: float | None = None
        self.due = True

    def __enter__(self) -> Norms:
        """Start to listen."""
        if self.since is None:
            self.since = perf_counter()
        return super().__enter__()

    start = __enter__

    def stop(self) -> None:
        """Stop listening."""
        self.__exit__()

    def renew(self) -> None:
        """Look at the next pass whatever the others have cost: something new has begun."""
        self.due = True

    def backward(self, run: Any, outputs: tuple) -> None:
        """Look at a pass that is about to start, if there is time."""
        if run.journal is not None:  # who keeps a journal sees the gradients there
            return
        begun = perf_counter() if self.since is None else self.since
        late = self.share is not None and self.spent > self.share * (perf_counter() - begun)
        if late and not self.due:
            return
        self.due = False
        run.pending = _Waiting(run.pending, self)
        run.owned = _Nobodys()


class _Nobodys(set):
    """No waiting gradient belongs to the pass, so none is added to in place: what was put in can be told apart."""

    def add(self, element: Any) -> None:
        pass


class _Waiting(dict):
    """The waiting gradients of a pass, that notes the norm of each as it is put in."""

    __slots__ = ("node", "norms", "noted", "watch")

    def __init__(self, waiting: dict, watch: Norms) -> None:
        super().__init__(waiting)
        self.watch = watch
        self.node: Any = None
        self.noted: Any = None
        self.norms: dict = {}

    def pop(self, node: Any, *default: Any) -> Any:  # type: ignore[override]
        found = dict.pop(self, node, *default)
        if found is not None and node.__class__ is not Out:
            self.node = node
        return found

    def __setitem__(self, edge: Any, value: Any) -> None:
        if value.__class__ is not list and self.node is not None:
            begin = perf_counter()
            if self.node is not self.noted:
                self.noted, self.norms = self.node, {}
                try:
                    note = note_of(self.node)
                    self.node.note = {**note, "norms": self.norms} if note else {"norms": self.norms}
                except AttributeError:  # a node of another making
                    pass
            size = _norm(value, self.get(edge))
            held = self.norms.get(edge)
            # an op that uses one tensor twice sends two gradients the same way
            self.norms[edge] = (
                size if held is None else (*(held if isinstance(held, tuple) else (held,)), size)
            )
            # as much again goes into the dict itself and into sums that are not made in place
            self.watch.spent += 2 * (perf_counter() - begin)
        dict.__setitem__(self, edge, value)


def _norm(value: Any, before: Any) -> Any:
    """The norm of what was added, of one real number the number itself; on a device a scalar that is not waited for."""
    data = value if value.__class__ is np.ndarray else value._data if isinstance(value, Tensor) else value
    if before is not None:
        data = data - (before._data if isinstance(before, Tensor) else before)
    if data.size == 1 and data.dtype.kind != "c":
        return float(data.reshape(-1)[0]) if isinstance(data, (np.ndarray, np.generic)) else data.sum()
    if isinstance(data, np.ndarray):
        if data.dtype.kind not in "fc" or data.dtype.itemsize < 4:
            data = data.astype(np.float32)
        size = math.sqrt(abs(np.vdot(data, data)))
        # squares leave the range of single precision long before the norm does
        return (
            size
            if 1e-18 < size < math.inf or data.dtype.itemsize > 4
            else float(np.linalg.norm(data.astype("D")))
        )
    if isinstance(data, np.generic):
        return abs(complex(data))
    wide = abs(data).astype(np.float64).reshape(-1)  # squares leave the range of single precision
    return wide.dot(wide) ** 0.5


def norms_of(node: Any) -> list[float | None]:
    """The norm on each edge of a node, None where it is not known.

    Args:
        node: a node of the engine.
    """
    return [None if size is None else abs(size) for size in noted_of(node)]


def noted_of(node: Any) -> list[float | None]:
    """As `norms_of`; a gradient that is one real number keeps its sign.

    Args:
        node: a node of the engine.
    """
    return [None if size is None else float(size) for size in waiting_of(node)]


def waiting_of(node: Any) -> list[Any]:
    """As `noted_of`, but what is still on a device is a scalar there, which is not waited for.

    Args:
        node: a node of the engine.
    """
    noted = note_of(node).get("norms")
    if not noted:
        return [None] * len(node.edges)
    used: dict = {}
    found: list[Any] = []
    for edge in node.edges:
        sizes = noted.get(edge) if edge is not None else None
        if isinstance(sizes, tuple):
            i = used[edge] = used.get(edge, -1) + 1
            sizes = sizes[i] if i < len(sizes) else None
        found.append(sizes)
    return found
