"""What forward computed, as far as the nodes of a torch graph know: what they saved, under the names of our rows.

Where it is asked for, what follows from that is computed again by our rows, on copies.
Invariant: no hook of the user's runs, and what was overwritten is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..debug.numbers import host, plain
from ..debug.steps.numbers import Known
from ..engine.base.numpy_warnings import without_warnings
from . import constants, private, rows
from .nodes import NODES
from .real import torch


class Forward:
    """The values of forward by node and output, where they are known.

    Args:
        nodes: the nodes of a pass, newest first.
        outputs: the tensors the pass starts from.
        most: elements of an input with which forward is computed again; not at all where it is 0.
    """

    def __init__(self, nodes: list, outputs: tuple = (), most: int = 0) -> None:
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
        if most:
            with without_warnings():
                for n in reversed(nodes):
                    if (n, 0) not in self.values:
                        self._again(n, most)

    def _again(self, node: Any, most: int) -> None:
        """Run a node's forward again by our row, from what is known of its inputs."""
        known = self.known(node, None)
        outs = private.outputs(node)
        if known is None or len(outs) != 1 or any(name not in known.consts for name in known.rule.consts):
            return
        given: list[Any] = [known.inputs.get(name) for name in known.rule.inputs]
        if any(v is None or (hasattr(v, "shape") and np.prod(v.shape) > most) for v in given):
            return
        shape, dtype, _ = outs[0]
        try:
            arrays = [plain(host(v)) if hasattr(v, "shape") else v for v in given]
            kind = np.result_type(*[a.dtype for a in arrays if hasattr(a, "dtype")])
            arrays = [a if hasattr(a, "dtype") else np.asarray(a, kind) for a in arrays]
            result = known.rule.kernels[0](*arrays, *[known.consts[name] for name in known.rule.consts])
        except Exception:  # a kernel that needs more than is known: then the value is not known either
            return
        result = np.asarray(result[0] if isinstance(result, tuple) else result)
        if result.shape == tuple(shape):
            like = NUMPY.get(dtype, result.dtype)
            self.values[node, 0] = result.astype(like) if result.dtype != like else result

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


NUMPY = {
    torch.float16: np.dtype("f2"),
    torch.float32: np.dtype("f4"),
    torch.float64: np.dtype("f8"),
    torch.complex64: np.dtype("c8"),
    torch.complex128: np.dtype("c16"),
}


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
