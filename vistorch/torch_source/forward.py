"""What forward computed, as far as the nodes of a torch graph know: what they saved, under the names of our rows.

Invariant: no hook of the user's runs, nothing is computed but copies to the CPU, and what was overwritten is not known.
"""

from __future__ import annotations

from typing import Any

from ..debug.steps.numbers import Known
from . import constants, private, rows
from .nodes import NODES
from .real import torch


class Forward:
    """The values of forward by node and output, where they are known.

    Args:
        nodes: the nodes of a pass, newest first.
        outputs: the tensors the pass starts from.
    """

    def __init__(self, nodes: list, outputs: tuple = ()) -> None:
        self.values: dict[tuple[Any, int], Any] = {}
        self.kept: dict[Any, dict[str, Any]] = {}
        self.empty: dict[Any, set[str]] = {}  # of a node: what it would keep, and was not given
        for t in outputs:
            if t.grad_fn is not None:
                self.values[t.grad_fn, t.output_nr] = t.detach()
        for n in nodes:
            if NODES.is_leaf(n):
                self.values[n, 0] = n.variable.detach()
                continue
            kept = self.kept[n] = {saved.name: saved.value for saved in NODES.saved(n)}
            self.empty[n] = private.nothing_saved(n)
            for name in ("result", "result0", "output"):
                if isinstance(kept.get(name), torch.Tensor):
                    self.values.setdefault((n, 0), kept[name])
            names = rows.arguments_of(n)
            for name, (target, output) in zip(names, n.next_functions, strict=False):
                value = kept.get(name)
                if target is not None and isinstance(value, torch.Tensor) and not NODES.is_leaf(target):
                    self.values.setdefault((target, output), value)

    def of(self, node: Any, output: int = 0) -> Any:
        """The value, or None."""
        return self.values.get((node, output))

    def inputs(self, node: Any) -> dict[str, Any]:
        """The inputs of a node that are known, by their names in our row."""
        found: dict[str, Any] = {}
        names = rows.arguments_of(node)
        for name, (target, output) in zip(names, node.next_functions, strict=False):
            value = None if target is None else self.values.get((target, output))
            if value is not None:
                found[rows.OURS.get(name, name)] = value
        rule = rows.row_of(node)
        for name, value in self.kept.get(node, {}).items():
            own = rows.OURS.get(name, name)
            if isinstance(value, torch.Tensor) and (rule is None or own in rule.inputs):
                found.setdefault(own, value)
        return found

    def known(self, node: Any, incoming: Any) -> Known | None:
        """All that the formulas of a node may name; None where no row is known."""
        rule = rows.row_of(node)
        if rule is None:
            return None
        kept = self.kept.get(node, {})
        inputs = self.inputs(node)
        fixed = []
        for name, value in kept.items():  # a plain number where the row has a tensor: `x * 3`
            own = rows.OURS.get(name, name)
            if own in rule.inputs and own not in inputs and isinstance(value, (int, float, complex)):
                inputs[own] = value
                fixed.append(own)
        outputs = {}
        if (node, 0) in self.values:
            outputs["out"] = self.values[node, 0]
        consts = {}
        given = {**dict.fromkeys(self.empty.get(node, ())), **kept, constants.OUTPUT: NODES.shape(node)}
        for name in rule.consts:
            value = constants.read(rule.name, name, given)
            if value is not constants.UNKNOWN and not isinstance(value, torch.Tensor):
                consts[name] = value
        return Known(rule, incoming, inputs, outputs, consts, frozenset(fixed))


def versions_differ(node: Any) -> bool:
    """Whether something that a node saved was written over since."""
    for name in private.saved_names(node):
        try:
            if not private.packed(node, name):
                private.saved(node, name)
        except RuntimeError as error:
            if "modified by an inplace operation" in str(error):
                return True
        except AttributeError:
            continue
    return False
