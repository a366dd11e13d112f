"""A pass that torch has run by itself, stepped through afterwards: for passes that cannot be taken one node at a time.

Hooks behind every node note what came and what went while torch runs the pass with all that belongs to it: hooks of
C++, passes inside of nodes, other processes. What is stepped then is what was noted.

Invariant: the pass has run once, as `backward()` runs it; stepping through it runs nothing and changes no `.grad`.
"""

from __future__ import annotations

from typing import Any

from . import passes
from .nodes import NODES
from .real import torch
from .stepper import Step, TorchStepper, changed

SAYS = "torch has run this pass by itself: every .grad is what it left, whichever step is shown"


class ReplayedPass(TorchStepper):
    """A pass that has run, from what was noted of it.

    Args:
        tensors: one tensor, or a sequence, to start from.
        gradient: their gradients; may be left out for scalars.
        names: what leaves are called.
        options: as for `backward`.
    """

    says = SAYS

    def __init__(
        self, tensors: Any, gradient: Any = None, *, names: dict[Any, str] | None = None, **options: Any
    ) -> None:
        super().__init__(tensors, gradient, names=names, search=False, alone=True, **options)
        self._seen: dict[Any, tuple[list[Any], list[Any]]] = {}  # of a node: what came in, what it sent
        self._grads: dict[Any, tuple[Any, Any]] = {}  # of a leaf: its `.grad` before and after
        self._run_by_torch(tensors, gradient, options)

    def _run_by_torch(self, tensors: Any, gradient: Any, options: dict[str, Any]) -> None:
        handles = []
        leaves = [n for n in self.nodes if NODES.is_leaf(n)]
        before = {n: _copy(n.variable.grad) for n in leaves}
        try:
            for n in self.nodes:
                if NODES.is_leaf(n):
                    handles.append(
                        n.register_prehook(lambda came, n=n: self._seen.update({n: (list(came), [])}))
                    )
                else:
                    note = lambda sent, came, n=n: self._seen.update({n: (list(came), list(sent))})  # noqa: E731
                    handles.append(n.register_hook(note))
            passes.run(tensors, gradient, {**options, "retain_graph": True})
        finally:
            for handle in handles:
                handle.remove()
        self._grads = {n: (before[n], _copy(n.variable.grad)) for n in leaves}

    def gradient(self, tensor: Any) -> Any:
        """A leaf's `.grad` as it was at this place of the pass."""
        for n, (before, after) in self._grads.items():
            if n.variable is tensor:
                return after if any(step.node is n for step in self._taken) else before
        return super().gradient(tensor)

    def _run(self, step: Step) -> None:
        if step.node not in self._seen:
            return
        came, sent = self._seen[step.node]
        step.hooked = changed(step.came, tuple(came))
        self._send(step, sent)

    def _receive(self, step: Step) -> None:
        step.accumulated = self._grads[step.node]
        if step.node in self._seen:
            step.hooked = changed(step.came, tuple(self._seen[step.node][0]))

    def _restore(self, step: Step) -> None:
        """There is nothing to take back."""

    def _settle(self) -> None:
        """Torch has left things as they are."""


def _copy(grad: Any) -> Any:
    with torch.no_grad():
        return None if grad is None else grad.clone()
