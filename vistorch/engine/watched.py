"""What may stand around a node while a pass runs: hooks, anomaly mode, a node with a `run` of its own.

Invariant: a node that nobody watches never comes here.
"""

from __future__ import annotations

from typing import Any

from .accumulate import tensor_of
from .anomaly import blame, check_nan
from .hooks import run_node_hook, run_tensor_hooks
from .modes import mode
from .vjps import fit, vjps_of


class Watched:
    """The part of a pass that deals with hooks and anomalies."""

    __slots__ = ()

    create_graph: bool

    _retain: Any

    def _before(self, n: Any, hooks: Any, g: Any, undo: list | None) -> Any:
        """The hooks of the tensor, then the node's pre-hooks."""
        if g.__class__ is not list:
            g = self._of_tensor(n, hooks, g, undo)
        return self._prehooks(n, hooks, g) if hooks.before else g

    def _of_tensor(self, n: Any, hooks: Any, g: Any, undo: list | None) -> Any:
        """Tensor hooks in their order, then retained gradients."""
        if hooks.tensor:
            g = run_tensor_hooks(hooks, g, n.place, self.create_graph)
        for ref in hooks.retained:
            t = ref()
            if t is not None:
                self._retain(t, g, undo)
        return g

    def _prehooks(self, n: Any, hooks: Any, g: Any) -> Any:
        many = g.__class__ is list
        given = tuple([tensor_of(x, n.place) for x in (g if many else [g])])
        for hook in list(hooks.before.values()):
            given = run_node_hook(hook, (given,), given)
        back = [x if self.create_graph or x is None else x._data for x in given]
        return back if many else back[0]

    def _careful(self, n: Any, rule: Any, g: Any, hooks: Any, wanted: Any) -> list:
        """One node off the fast path: recorded, hooked, custom or watched by anomaly mode."""
        before, mode.node = mode.node, n
        try:
            if rule is None:
                results = n.run(g, self.create_graph)
            else:
                results = vjps_of(n, g, self.create_graph, wanted)
        except Exception as exc:
            if mode.anomaly:
                blame(n, exc)
            raise
        finally:
            mode.node = before
        if mode.anomaly:
            check_nan(n, results, g)
        if hooks is not None and hooks.after:
            results = self._posthooks(n, hooks, g, results)
        return results

    def _posthooks(self, n: Any, hooks: Any, g: Any, results: list) -> list:
        """Hooks see a gradient for each of the node's `next_functions`, fitted to it."""
        given = tuple([tensor_of(x, n.place) for x in (g if g.__class__ is list else [g])])
        at = n.gradient_slots()
        results = [
            gi if e is None or gi is None else fit(gi, e, self.create_graph)
            for e, gi in zip(n.edges, results, strict=True)
        ]
        got = tuple([tensor_of(results[i], n.place) for i in at])
        for hook in list(hooks.after.values()):
            got = run_node_hook(hook, (got, given), got)
        for i, x in zip(at, got, strict=True):
            results[i] = x if self.create_graph or x is None else x._data
        return results
