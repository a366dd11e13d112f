"""Which units of a layer do nothing, and which are stuck at an end: seen at the activation that follows the layer.

While a `Looking` listens (for one forward pass, now and then), it knows which layer each tensor comes from, and sums
up by unit how often an activation gives something. A unit of a ReLU is dead if it gave nothing in all of the window;
one of a sigmoid or tanh is saturated if 9 of 10 of its outputs are within 1 % of an end.
Invariant: a unit counts as dead only after `WINDOW` samples.
"""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any

import numpy as np

from ...engine.base.events import Listener
from ..source import Source, own
from .transfer import Transfer

WINDOW = 1024
MOST = 4096  # units of a layer
STUCK = 0.9
ENOUGH = 1024  # values of a unit at one look
FLAG = 0.25  # a layer is flagged from this share of its units on
RECTIFIERS = frozenset(("relu", "relu_", "relu6", "hardtanh", "hardtanh_", "threshold", "threshold_"))
ENDS = {"sigmoid": (0.01, 0.99), "sigmoid_": (0.01, 0.99), "tanh": (-0.99, 0.99), "tanh_": (-0.99, 0.99)}


def has_channels(module: Any, ndim: int) -> bool:
    """Whether the units of a layer are the second axis of what it returns, not the last.

    Args:
        module: the layer.
        ndim: axes of its largest parameter.
    """
    return ndim > 2 or any(
        word in type(module).__name__ for word in ("BatchNorm", "InstanceNorm", "GroupNorm")
    )


class Looking(Listener):
    """Listens to one forward pass.

    Args:
        paths: the path of each module with parameters and whether its units are channels, by its id.
        transfer: brings the sums.
        source: whose tensors there are; the engine's if not given.
    """

    def __init__(
        self, paths: dict[int, tuple[str, bool]], transfer: Transfer, source: Source | None = None
    ) -> None:
        self.paths, self.transfer, self.source = paths, transfer, source or own()
        self.thread = threading.get_ident()
        self.origin: dict[int, tuple] = {}  # by tensor: (it, path, whether its units are channels)
        self.found: dict[str, tuple] = {}  # by path: (kind, samples, values a unit, ticket)
        self.seconds = 0.0

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """A layer has returned."""
        if name != "forward_end" or threading.get_ident() != self.thread:
            return
        known = self.paths.get(id(subject))
        if known is not None and self.source.is_tensor(details[0]):
            self.origin[id(details[0])] = details[0], *known

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """What comes of a layer's output is the layer's; an activation of it is looked at."""
        begin = perf_counter()
        self._follow(rule, ins, outs)
        self.seconds += perf_counter() - begin

    def _follow(self, rule: Any, ins: tuple, outs: tuple) -> None:
        if threading.get_ident() != self.thread:
            return
        for t in ins:
            known = self.origin.get(id(t))
            if known is not None:
                break
        else:
            return
        _, path, channels = known
        name = rule.name
        if name in RECTIFIERS or name in ENDS:
            self._look(name, path, channels, outs[0])
        for o in outs:
            if o is not ins[0]:
                self.origin[id(o)] = o, path, channels

    def _look(self, name: str, path: str, channels: bool, out: Any) -> None:
        d, place = self.source.placed(out)
        if d.ndim < 2 or not d.size:
            return
        axis = 1 if channels and d.ndim > 2 else d.ndim - 1
        if d.shape[axis] > MOST:
            return
        axes = tuple(i for i in range(d.ndim) if i != axis)
        with place:
            part = _part(d, axis)
            if name in ENDS:
                lo, hi = ENDS[name]
                kind, hits = "ends", ((part < lo) | (part > hi)).sum(axes)
                alive = hits
            else:
                # a unit is dead only if all of its outputs are 0: that is asked of every one
                kind, hits, alive = "rectifier", (part > 0).sum(axes), d.max(axes)
            each = part.size // d.shape[axis]
            found = place.xp.stack((hits.astype(np.float32), (alive > 0).astype(np.float32)))
            self.found[path] = kind, len(d), each, self.transfer.put(found, place)


def _part(d: Any, axis: int) -> Any:
    """As many values of each unit as tell how active it is."""
    if d.ndim == 4 and axis == 1:
        step = max(1, int((d[0, 0].size * len(d) / ENOUGH) ** 0.5))
        return d[:, :, ::step, ::step]
    step = max(1, d.size // d.shape[axis] // ENOUGH)
    return d[::step] if axis else d


class Units:
    """What is known of the units of each layer."""

    def __init__(self) -> None:
        self.layers: dict[str, Activity] = {}
        self.coming: list[dict[str, tuple]] = []

    def expect(self, found: dict[str, tuple]) -> None:
        """Sums that are here, or under way."""
        self.coming.append(found)

    def arrive(self) -> bool:
        """Take in what is here; whether something was."""
        left, some = [], False
        for found in self.coming:
            if any(ticket.value is None for *_, ticket in found.values()):
                left.append(found)
                continue
            for path, (kind, samples, each, ticket) in found.items():
                some = True
                layer = self.layers.get(path)
                if layer is None or layer.units != ticket.value.shape[1] or layer.kind != kind:
                    layer = self.layers[path] = Activity(kind, ticket.value.shape[1])
                layer.add(ticket.value, samples, each)
        self.coming = left[-4:]
        return some


class Activity:
    """How often each unit of a layer gave something, over at least the newest `WINDOW` samples that were looked at."""

    def __init__(self, kind: str, units: int) -> None:
        self.kind = kind
        # hits and whether there was any, by unit; of the newest samples, and of those before
        self.now: np.ndarray = np.zeros((2, units))
        self.samples, self.each = 0, 0
        self.old: np.ndarray = np.zeros((2, units))
        self.old_samples, self.old_each = 0, 0

    def add(self, found: np.ndarray, samples: int, each: int) -> None:
        """Add one batch of `samples`: hits among `each` values, and whether there was any, by unit."""
        if self.samples >= WINDOW:
            self.old, self.old_samples, self.old_each = self.now, self.samples, self.each
            self.now, self.samples, self.each = np.zeros(found.shape), 0, 0
        self.now = self.now + found
        self.samples += samples
        self.each += each

    def share(self) -> np.ndarray:
        """The share of outputs that gave something, by unit."""
        return (self.now + self.old)[0] / max(self.each + self.old_each, 1)

    @property
    def units(self) -> int:
        """How many there are."""
        return self.now.shape[1]

    @property
    def seen(self) -> int:
        """How many samples were looked at."""
        return self.samples + self.old_samples

    def dead(self) -> np.ndarray:
        """Which units are dead; none before the window is full."""
        if self.kind != "rectifier" or self.seen < WINDOW:
            return np.zeros(self.units, bool)
        return (self.now + self.old)[1] == 0

    def saturated(self) -> np.ndarray:
        """Which units are stuck at an end."""
        if self.kind != "ends":
            return np.zeros(self.units, bool)
        return self.share() >= STUCK

    def levels(self) -> np.ndarray:
        """Each unit in levels: 0 nothing at all, 1 to 10 tenths of its outputs."""
        some = (self.now + self.old)[1] > 0
        return np.where(some, np.maximum(np.ceil(self.share() * 10 - 1e-9), 1), 0).astype(np.uint8)
