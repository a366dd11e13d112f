"""The norm of each gradient that flowed along an edge, noted at the nodes while torch runs a pass.

Hooks are put at the nodes before the pass and removed after it. A gradient is measured where it is; on a device the
number is fetched when it is shown.

Invariant: a pass runs with the gradients that it would have had, and no hook stays.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from . import notes, private, values
from .nodes import NODES, made_by, order_of
from .real import torch

MOST = 5000  # nodes; a larger graph has no norms
SHARE = 0.03  # of the time, as the engine's listeners may take


class Norms:
    """Measures the first pass of each cell, and others as far as a share of the time goes."""

    def __init__(self) -> None:
        self.spent, self.begun, self.due = 0.0, perf_counter(), True

    def renew(self) -> None:
        """Look at the next pass whatever the others have cost."""
        self.due = True

    def measure(self, tensors: Any) -> Callable[[], None] | None:
        """Put hooks at the nodes of a pass that is about to run; returns what removes them, None where it is too late.

        Args:
            tensors: what the pass starts from.
        """
        begin = perf_counter()
        if not self.due and self.spent > SHARE * (begin - self.begun):
            return None
        self.due = False
        given = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        roots = [found[0] for t in given if isinstance(t, torch.Tensor) and (found := made_by(t)) is not None]
        order = order_of(roots)
        if len(order) > MOST:
            return None
        handles = [self._hook(n) for n in order if not NODES.is_leaf(n)]
        self.spent += perf_counter() - begin

        def end() -> None:
            for handle in handles:
                handle.remove()

        return end

    def _hook(self, node: Any) -> Any:
        metadata = node.metadata  # and not the node: a hook that holds its node is a circle through C++

        def note(sent: tuple, came: tuple) -> None:
            begin = perf_counter()
            metadata[notes.NORMS] = [_size(g) for g in sent]
            self.spent += perf_counter() - begin

        return node.register_hook(note)


def _size(g: Any) -> float | None:
    """The norm of a gradient; of one that is one real number the number itself."""
    if g is None or private.is_wrapped(g):
        return None
    found = values.number(g)
    return values.norm(g) if found is None else found
