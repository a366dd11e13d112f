"""Sizes by parameter and layer: gradient norms, and how large a step is against the weights.

Invariant: on a device nothing is waited for; the numbers come with the next refresh.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.memory.placement import CPU
from ..numbers import norm_of
from ..source import Source, Unsupported, own, source_of
from .transfer import Ticket, Transfer

MOST = 256  # parameters that are looked at


def owner_of(name: str) -> str:
    """The layer a parameter belongs to: its name without the last part; "" for one of the root itself."""
    return name.rpartition(".")[0]


class LayerSizes:
    """The parameters of a model, by name, and what is measured of them."""

    def __init__(self, model: Any) -> None:
        self.parameters = [(n, p) for n, p in model.named_parameters() if p.requires_grad][:MOST]
        self.source: Source = source_of([p for _, p in self.parameters]) or own()
        self.names = [n for n, _ in self.parameters]
        self.layers = list(dict.fromkeys(owner_of(n) for n in self.names))
        kinds = {path: type(m).__name__ for path, m in model.named_modules()}
        self.kinds = [kinds.get(name, "") for name in self.layers]
        self.before: list | None = None
        self.weights: list[float] = []  # the newest norms of the parameters

    def norms(self, transfer: Transfer) -> list:
        """The norm of each gradient now, as numbers or tickets; None where there is none."""
        source = self.source
        return [
            None if (g := source.gradient(p)) is None else _norm(source, g, transfer)
            for _, p in self.parameters
        ]

    def keep(self) -> None:
        """Copy the weights before a step."""
        self.before = []
        for _, p in self.parameters:
            d, place = self.source.placed(p)
            with place:
                self.before.append(d.copy())

    def ratios(self, transfer: Transfer) -> list:
        """By parameter, the norms of what the step added and of the weights, as numbers or tickets."""
        before, self.before = self.before or [], None
        out = []
        for (_, p), old in zip(self.parameters, before, strict=False):
            d, place = self.source.placed(p)
            if d.shape != old.shape:
                out.append((np.nan, np.nan))
                continue
            with place, np.errstate(all="ignore"):  # inf less inf is for the alarm, not for a warning
                out.append((_size(d - old, place, transfer), _size(old, place, transfer)))
        return out

    def by_layer(self, pairs: list[tuple[float, float]]) -> np.ndarray:
        """The ratio of each layer: all its parameters together; NaN where its weights are 0, inf where not finite."""
        total = np.zeros((len(self.layers), 2))
        where = {name: i for i, name in enumerate(self.layers)}
        for name, (added, weight) in zip(self.names, pairs, strict=False):
            total[where[owner_of(name)]] += added * added, weight * weight
        with np.errstate(all="ignore"):
            ratios = np.sqrt(total[:, 0] / total[:, 1])
        ratios[total[:, 1] == 0] = np.nan  # weights that begin at 0 have no size to be measured against
        ratios[~np.isfinite(total).all(1)] = np.inf
        return ratios


def _norm(source: Source, g: Any, transfer: Transfer) -> float | Ticket | None:
    try:
        d, place = source.placed(g)
    except (AttributeError, Unsupported):  # it has no dense values
        return None
    return _size(d, place, transfer)


def _size(d: Any, place: Any, transfer: Transfer) -> float | Ticket:
    if place is CPU:
        return norm_of(d)
    with place:
        wide = d.astype(np.float32) if d.dtype.itemsize < 4 else d
        return transfer.put((abs(wide) ** 2).sum() ** 0.5, place)


def number(found: Any) -> float:
    """A number, or what a ticket brought; NaN while it is under way."""
    if isinstance(found, Ticket):
        return np.nan if found.value is None else float(found.value)
    return float(found)
