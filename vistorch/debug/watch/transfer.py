"""Batched device-to-host copies: all arrays that wait cross together, one transfer per refresh.

`put` takes an array and gives a ticket; after `send()` the ticket holds its values. Reductions are queued on the device
before `put`, so the loop waits for the device nowhere but in `send`.
Invariant: one transfer for each device and `send()`, however much waits; arrays of the host do not travel at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.memory.placement import CPU


class Ticket:
    """One array that was put in; `value` once it is here."""

    value: Any
    __slots__ = ("dtype", "raw", "shape", "value")

    def __init__(self, raw: Any) -> None:
        self.raw, self.shape, self.dtype = raw, raw.shape, raw.dtype
        self.value = None


class Transfer:
    """What waits to cross, by device; `crossings` counts the transfers."""

    def __init__(self) -> None:
        self.waiting: dict[Any, list[Ticket]] = {}
        self.crossings = 0

    def put(self, array: Any, place: Any) -> Ticket:
        """Have an array brought; one of the host is there at once.

        Args:
            array: numbers of any real type.
            place: where it is.
        """
        ticket = Ticket(array)
        if place is CPU:
            ticket.value, ticket.raw = array, None
        else:
            self.waiting.setdefault(place, []).append(ticket)
        return ticket

    def send(self) -> None:
        """Bring all that waits: one transfer a device."""
        waiting, self.waiting = self.waiting, {}
        for place, tickets in waiting.items():
            xp = place.xp
            with place:
                # double precision holds every label and every float32
                packed = xp.concatenate([t.raw.astype(np.float64).reshape(-1) for t in tickets])
                self.crossings += 1
                flat = packed.get() if hasattr(packed, "get") else np.array(packed)
            at = 0
            for t in tickets:
                n = 1
                for side in t.shape:
                    n *= side
                part = flat[at : at + n].reshape(t.shape)
                t.value = part.astype(t.dtype) if t.dtype.kind in "iub" else part
                t.raw = None
                at += n
