"""What `check_node` needs of a custom function's node: its forward and its gradients, run again by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.run import grad
from ..engine.base.modes import enable_grad, mode, no_grad
from ..engine.core.tensor import Tensor, wrap
from ..engine.core.type_promotion import floating
from .lines import note_of


class CustomNode:
    """A node of a custom function: the function itself is run again, on copies of what it was given."""

    def __init__(self, node: Any) -> None:
        note = note_of(node)
        if "ins" not in note:
            raise ValueError(
                f"{node.name()} belongs to a custom function, which keeps only what it chose to: listen with "
                "Lines(values=True) when it is called, and it can be checked"
            )
        self.node, self.place = node, node.place
        self.function, self.args = note["rule"].function, note["consts"][0]
        self.wanted = [e is not None for e in node.edges]
        self.at = "its inputs"
        for t, then in zip(note["ins"], note["versions"], strict=True):
            # what the function itself wrote is not what it was given
            if then is not None and (0 if t._ver is None else t._ver.n) != then:
                self.at = "its inputs as they are now"
        self.inputs = [_double(t._data) for t in note["ins"]]

    def _call(self, values: list, wanted: list) -> tuple[tuple, list]:
        """The function's outputs on private tensors, and these tensors."""
        tensors = []
        for value, wants in zip(values, wanted, strict=True):
            t = wrap(value.copy(), self.place)
            t._rg = wants
            tensors.append(t)
        # a copy each, because the function may write into what it is given
        given = iter([t * 1 if wants else t for t, wants in zip(tensors, wanted, strict=True)])
        outs = self.function.apply(*[next(given) if isinstance(a, Tensor) else a for a in self.args])
        outs = outs if isinstance(outs, tuple) else (outs,)
        return tuple([o for o in outs if isinstance(o, Tensor) and floating(o._data.dtype)]), tensors

    def forward(self, values: list) -> list:
        """The outputs at other values."""
        with no_grad():
            return [
                _host(o._data) for o in self._differentiable(self._call(values, [False] * len(values))[0])
            ]

    def _differentiable(self, outs: tuple) -> list:
        if not hasattr(self, "carrying"):
            with enable_grad():
                recorded, _ = self._call(self.inputs, self.wanted)
            self.carrying = [o.requires_grad for o in recorded]
        return [o for o, carries in zip(outs, self.carrying, strict=True) if carries]

    def gradients(self, cotangents: list) -> list:
        """What the function's own backward gives for the inputs."""
        packers, mode.packers = mode.packers, ()
        try:
            with enable_grad():
                outs, tensors = self._call(self.inputs, self.wanted)
            outs = self._differentiable(outs)
            gs = [
                wrap(self.place.xp.asarray(c.astype(o._data.dtype)), self.place)
                for c, o in zip(cotangents, outs, strict=True)
            ]
            wanted = [t for t in tensors if t._rg]
            found = iter(grad(outs, wanted, gs, allow_unused=True))
        finally:
            mode.packers = packers
        got = [next(found) if t._rg else None for t in tensors]
        return [None if g is None else _host(g._data) for g in got]


def _double(d: Any) -> Any:
    if not floating(d.dtype):
        return d.copy()
    return d.astype(np.complex128 if d.dtype.kind == "c" else np.float64)


def _host(d: Any) -> Any:
    return np.asarray(d.get() if hasattr(d, "get") else d)
