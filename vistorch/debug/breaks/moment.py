"""A step as conditions see it: what its node is about to send, before anybody uses it.

Invariant: nothing is measured until a condition asks, and everything at most once.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.base.numpy_warnings import without_warnings
from ...engine.core.graph import Leaf, Out
from ..engine_nodes import NODES
from ..line_lookup import line_of
from ..lines import note_of
from ..numbers import all_finite, finite, norm_of, np_of, plain
from ..source import Nodes
from .modules import path_of


class Moment:
    """One step of a pass.

    Args:
        node: the node.
        sent: the arrays it is about to send, or that a leaf adds to its `.grad`.
        reads: how nodes of its library are read.
        modules: finds the module of a node, and knows what leaves are called.
    """

    def __init__(self, node: Any, sent: list[Any], reads: Nodes, modules: Any) -> None:
        self.node, self._reads, self._modules = node, reads, modules
        self.sent = [d for d in sent if d is not None]
        self._leaf = reads.is_leaf(node)
        self._known: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The node's name as PyTorch prints it, without a namespace."""
        return self._reads.name(self.node)

    @property
    def label(self) -> str | None:
        """A leaf's name."""
        return self._modules.names.get(self._reads.variable(self.node)) if self._leaf else None

    @property
    def module(self) -> str | None:
        """The path of the module that made the node, as noted or as the names of its parameters tell."""
        return self._modules(self.node)

    @property
    def line(self) -> int | None:
        """The number of the line that made the node."""
        found = None if self._leaf else line_of(self._reads.place(self.node))
        return None if found is None else found.line

    @property
    def bad(self) -> bool:
        """Whether anything sent is not finite."""
        if "bad" not in self._known:
            self._known["bad"] = not all_finite(self.sent)
        return self._known["bad"]

    @property
    def nan(self) -> bool:
        """Whether a NaN is sent."""
        return self.bad and any(bool(np_of(d).isnan(plain(d)).any()) for d in self.sent)

    @property
    def inf(self) -> bool:
        """Whether an infinite value is sent."""
        return self.bad and any(bool(np_of(d).isinf(plain(d)).any()) for d in self.sent)

    @property
    def zero(self) -> bool:
        """Whether something is sent and all of it is zero."""
        return bool(self.sent) and not any(bool(d.any()) for d in self.sent)

    @property
    def unchanged(self) -> bool:
        """Whether a leaf's `.grad` is, after the step, what it was: a step of an optimizer would see no change."""
        return self._leaf and self.zero

    def measured(self, name: str) -> list[float]:
        """One number of each gradient that is sent; none of an empty one."""
        if name not in self._known:
            with without_warnings():
                self._known[name] = [_MEASURES[name](d) for d in self.sent if d.size]
        return self._known[name]


def moment_of(entry: Any, pending: dict, modules: Whereabouts) -> Moment:
    """A step of the engine's.

    Args:
        entry: the step's own entry in the journal.
        pending: where the pass keeps gradients that wait.
        modules: finds the module of a node.
    """
    node, undo = entry[1], entry[3]
    if node.__class__ is Leaf:
        sent = [entry[4] if len(entry) > 4 else entry[2]]
    else:
        sent = [c[3] for c in undo if len(c) == 4 and c[0] is pending]
    return Moment(node, [getattr(x, "_data", x) for x in sent], NODES, modules)


def _real(d: Any) -> Any:
    return abs(d) if d.dtype.kind == "c" else plain(d)


_MEASURES = {
    "norm": norm_of,
    "max": lambda d: float(_real(d).max()),
    "min": lambda d: float(_real(d).min()),
    "absmax": lambda d: float(abs(plain(d)).max()),
    "mean": lambda d: float(_real(d).mean()) if finite(d) else math.nan,
}


class Whereabouts:
    """Finds the module a node belongs to: as noted at it, as module calls were logged, or by its parameters' names.

    Args:
        names: what leaves are called.
    """

    def __init__(self, names: dict) -> None:
        self.names = names
        self._log: Any = None

    def __call__(self, node: Any) -> str | None:
        """The path, or None where nobody knows."""
        if node.__class__ is Leaf:
            name = self.names.get(node.variable)
            return None if name is None else name.rpartition(".")[0]
        note = note_of(node)
        if "module" in note:
            return note["module"]
        if "row" in note:  # of a recorder, which finds names late
            return note["row"].module
        return self._logged(node) or self._fed(node)

    def _logged(self, node: Any) -> str | None:
        """By the log of module calls, where one was kept."""
        if self._log is None:
            from ..graph.module_calls import Found

            self._log = Found()
        call = self._log.call(node.seq)
        if call is None:
            return None
        root, module = call.around()[0].module(), call.module()
        return None if root is None or module is None else path_of(root, module)

    def _fed(self, node: Any) -> str | None:
        """By the parameters that the node sends gradients to."""
        for e in node.edges:
            e = e.node if e.__class__ is Out else e
            if e.__class__ is Leaf and (name := self.names.get(e.variable)) is not None:
                return name.rpartition(".")[0]
        return None
