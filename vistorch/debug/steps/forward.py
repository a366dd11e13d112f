"""What forward computed, as far as a graph still knows: what was saved, and what follows from that at small cost.

Invariant: what is shown has the version it was saved with; a value that was overwritten since is not known.
"""

from __future__ import annotations

from typing import Any

from ...engine.base.numpy_warnings import without_warnings
from ...engine.core.graph import IN, OUT, Leaf, Out
from ...engine.core.tensor import Tensor
from ..engine_nodes import saved_of
from ..lines import note_of
from .numbers import Known

SMALL = 4096  # elements of an input with which forward is computed again


class Forward:
    """The values of forward by node and output, where they are known.

    Args:
        nodes: the nodes of a pass, newest first.
        outputs: the tensors the pass starts from.
        most: elements of an input with which forward is computed again.
    """

    def __init__(self, nodes: list, outputs: tuple = (), most: int = SMALL) -> None:
        self.most = most
        self.values: dict[tuple[Any, int], Any] = {}
        for t in outputs:
            node = getattr(t, "_node", None)
            if node is not None:
                self.values[(node.node, node.nr) if node.__class__ is Out else (node, 0)] = t._data
        with without_warnings():
            for n in nodes:
                for (kind, index, _), value in saved_of(n):
                    if kind == OUT:
                        self.values.setdefault((n, index), value)
                    elif kind == IN and index < len(n.edges):
                        self._note(n.edges[index], value)
            for n in reversed(nodes):
                if n.__class__ is Leaf:
                    self.values[n, 0] = n.variable._data
                elif (n, 0) not in self.values:
                    self._again(n)

    def of(self, node: Any, output: int = 0) -> Any:
        """The value, or None."""
        return self.values.get((node, output))

    def _note(self, e: Any, value: Any) -> None:
        if e is None or e.__class__ is Leaf or not hasattr(value, "shape") or value.shape != e.shape:
            return
        self.values.setdefault((e.node, e.nr) if e.__class__ is Out else (e, 0), value)

    def inputs(self, n: Any) -> dict[str, Any]:
        """The inputs of a node that are known, by their names in its row."""
        rule = n.rule
        found: dict[str, Any] = {}
        note = note_of(n)
        if len(note.get("ins", ())) == len(n.edges):
            for name, t, was in zip(rule.inputs, note["ins"], note["versions"], strict=False):
                if not isinstance(t, Tensor):
                    found[name] = t
                elif was is not None and (0 if t._ver is None else t._ver.n) == was:
                    found[name] = t._data
        for name, e in zip(rule.inputs, n.edges, strict=False):
            if e is not None and name not in found:
                value = self.values.get((e.node, e.nr) if e.__class__ is Out else (e, 0))
                if value is not None:
                    found[name] = value
        for (kind, index, _), value in saved_of(n):
            if kind == IN:
                found[rule.inputs[index]] = value
        return found

    def _again(self, n: Any) -> None:
        """Run a small node's forward again from what is known of its inputs."""
        rule = n.rule
        if rule is None or rule.differentiable_outs != 1:
            return
        known = self.inputs(n)
        if len(known) != len(rule.inputs) or any(getattr(v, "size", 1) > self.most for v in known.values()):
            return
        xp = n.place.xp
        try:
            given = [
                v if hasattr(v, "dtype") else xp.asarray(v, n.dtype) for v in (known[i] for i in rule.inputs)
            ]
            result = rule.kernels[n.place.kind](*given, *consts_of(n))
        except Exception:  # a kernel that needs more than is known: then the value is not known either
            return
        result = result[0] if isinstance(result, tuple) else result
        if tuple(result.shape) == tuple(n.shape):
            self.values[n, 0] = result.astype(n.dtype) if result.dtype != n.dtype else result

    def known(self, n: Any, incoming: Any) -> Known | None:
        """All that the formulas of a node may name."""
        rule = n.rule
        if rule is None:
            return None
        saved = [i for kind, i, _ in rule.saves if kind == OUT and (n, i) in self.values]
        outputs = {f"out{i or ''}": self.values[n, i] for i in saved}
        if (n, 0) in self.values:
            outputs["out"] = self.values[n, 0]
        consts = dict(zip(rule.consts, consts_of(n), strict=False))
        fixed = frozenset(name for name, e in zip(rule.inputs, n.edges, strict=False) if e is None)
        return Known(rule, incoming, self.inputs(n), outputs, consts, fixed)


def consts_of(n: Any) -> tuple:
    """A node's constants."""
    try:
        return n.consts
    except AttributeError:  # a fast path of an op that has none
        return ()
