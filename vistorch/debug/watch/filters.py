"""The weights of a chosen convolution beside their gradients, as 8-bit codes with one scale each.

Invariant: both have the same order and the same places; a code c stands for (c - 128) / 127 of the scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..source import source_of
from .transfer import Ticket, Transfer

MOST = 64  # filters that are shown
DEEP = 16  # of their input channels


def choices_of(model: Any) -> list[tuple[str, Any]]:
    """The parameters that are filters: weights of two spatial axes."""
    return [(n, p) for n, p in model.named_parameters() if p.ndim == 4 and p.shape[2] * p.shape[3] > 1]


def coded(values: np.ndarray) -> dict[str, Any]:
    """An array as codes and their scale."""
    values = np.asarray(values, np.float64)
    fine = np.isfinite(values)
    scale = float(np.abs(values[fine]).max()) if fine.any() else 0.0
    codes = np.where(fine, np.round(np.where(fine, values, 0) / (scale or 1) * 127) + 128, 0)
    return {"codes": codes.astype(np.uint8), "scale": scale}


class Filters:
    """The filters of one parameter as they were at the newest look."""

    def __init__(self, model: Any) -> None:
        self.choices = choices_of(model)
        self.chosen = self.choices[0][0] if self.choices else ""
        self.step = 0
        self.weight: Ticket | None = None
        self.gradient: Ticket | None = None
        self.shown: dict[str, Any] | None = None

    def require(self, name: str) -> None:
        """Refuse a name that no filters have; ValueError names those there are."""
        known = [n for n, _ in self.choices]
        if name not in known:
            raise ValueError(f"no filters are called {name[:80]!r}; there are: {', '.join(known) or 'none'}")

    def choose(self, name: str) -> None:
        """Look at another parameter from now on."""
        self.require(name)
        self.chosen, self.shown, self.weight, self.gradient = name, None, None, None

    def look(self, step: int, transfer: Transfer) -> None:
        """Copy the weights and their gradients, before the optimizer changes them."""
        p = dict(self.choices).get(self.chosen)
        source = source_of(p)
        if p is None or source is None:
            return
        d, place = source.placed(p)
        if d.ndim != 4:
            return
        deep = d.shape[1] if d.shape[1] <= 4 else min(DEEP, d.shape[1])
        with place:
            self.weight = transfer.put(d[:MOST, :deep].copy(), place)
            g = source.gradient(p)
            slope = None if g is None else source.placed(g)[0]
            self.gradient = None if slope is None else transfer.put(slope[:MOST, :deep].copy(), place)
        self.step = step

    def arrive(self) -> bool:
        """Take in what is here; whether something was."""
        if self.weight is None or self.weight.value is None:
            return False
        weight, self.weight = self.weight, None
        gradient, self.gradient = self.gradient, None
        self.shown = {
            "step": self.step,
            "weight": coded(weight.value),
            "gradient": None if gradient is None or gradient.value is None else coded(gradient.value),
        }
        return True

    def wire(self) -> dict[str, Any]:
        """As it travels."""
        return {
            "choices": [{"name": n, "shape": list(p.shape)} for n, p in self.choices],
            "chosen": self.chosen,
            **(self.shown or {"step": None, "weight": None, "gradient": None}),
        }
