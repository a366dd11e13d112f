"""The ledger of an optimizer: for each of its parameters what passes reached, what was cleared, used, and changed.

Invariant: it only counts; the sentences are the rules'.
"""

from __future__ import annotations

from typing import Any

import numpy as np

KEEP = 1 << 18  # elements of a parameter whose first values are kept


class Held:
    """One parameter that an optimizer holds.

    Slots:
        tensor: the parameter. order: when it was first seen there.
        passes: that reached it; `since` the optimizer's last step.
        inside: the passes whose gradients `.grad` is made of; `used`: those of the last step.
        twice, cleared, empty, fresh: steps that used a gradient again; that found it cleared; that found none though
            no pass came; that used one as it should be.
        norms: (step, norm of the gradient, of the parameter), where they were looked at.
        first: its values in the beginning, where it is small enough; `first_norm` their norm.
        before: its values before a step that is looked at; moves: (step, change / size) of those steps.
        mark: the gradient after the last step: (tensor, version).
    """

    __slots__ = (
        "before",
        "cleared",
        "empty",
        "first",
        "first_norm",
        "fresh",
        "group",
        "inside",
        "mark",
        "moves",
        "norms",
        "order",
        "passes",
        "since",
        "tensor",
        "twice",
        "used",
    )

    def __init__(self, tensor: Any, order: int, group: int) -> None:
        self.tensor, self.order, self.group = tensor, order, group
        self.passes = self.since = self.twice = self.cleared = self.empty = self.fresh = 0
        self.inside: set[int] = set()
        self.used: set[int] = set()
        self.norms: list[tuple[int, float, float]] = []
        d = tensor._data
        self.first = np.array(d) if isinstance(d, np.ndarray) and d.size <= KEEP else None
        self.first_norm = float(np.linalg.norm(d.reshape(-1))) if isinstance(d, np.ndarray) else 0.0
        self.mark: tuple | None = None
        self.before: Any = None
        self.moves: list[tuple[int, float]] = []

    def begins_pass(self, number: int) -> None:
        """A pass that reaches it is about to start: what its gradient holds by then."""
        g = self.tensor._grad
        if g is None:
            self.inside = set()
        elif self.inside and (self._was_changed(g) or not g._data.any()):
            self.inside = set()
        self.inside.add(number)
        self.passes += 1
        self.since += 1

    def ends_pass(self) -> None:
        """A pass has added to its gradient, which is no change on purpose."""
        g = self.tensor._grad
        if g is not None and self.mark is not None:
            self.mark = (g, version_of(g))

    def _was_changed(self, g: Any) -> bool:
        """Whether something changed the gradient after the last step, on purpose: by a product, or a new tensor."""
        return self.mark is not None and (self.mark[0] is not g or self.mark[1] != version_of(g))

    def begins_step(self, cleared: bool) -> None:
        """The optimizer is about to use its gradient.

        Args:
            cleared: whether gradients were cleared since the last pass.
        """
        g = self.tensor._grad
        if g is None or (cleared and not g._data.any()):
            if self.since:
                self.cleared += 1
            else:
                self.empty += 1
            self.inside = set()
        elif self.since or self.inside:
            if self.inside & self.used:
                self.twice += 1
            else:
                self.fresh += 1
        self.used = set(self.inside)
        self.since = 0

    def ends_step(self, step: int) -> None:
        """The step is over.

        Args:
            step: its number.
        """
        if self.before is not None:
            was, d = self.before, self.tensor._data
            self.before = None
            size = float(np.linalg.norm(was.reshape(-1)))
            if was.shape == d.shape and size > 0:
                self.moves.append((step, float(np.linalg.norm((d - was).reshape(-1))) / size))
        g = self.tensor._grad
        self.mark = None if g is None else (g, version_of(g))


def version_of(t: Any) -> int:
    """How often a tensor was written."""
    return 0 if t._ver is None else t._ver.n


class Ledger:
    """All that is known of one optimizer.

    Args:
        optimizer: which.
        place: where it was made; None where that was not seen.
        order: when.
    """

    def __init__(self, optimizer: Any, place: Any, order: int) -> None:
        self.optimizer, self.place, self.order = optimizer, place, order
        self.steps = 0
        self.step_place: Any = None
        self.zero_place: Any = None  # the newest clearing that comes between a pass and a step
        self.rates: list[float] = []
        self.held: dict[int, Held] = {}
        self.update(order)

    def update(self, order: int) -> None:
        """Look which parameters it holds now."""
        for i, group in enumerate(self.optimizer.param_groups):
            for p in group["params"]:
                if id(p) not in self.held:
                    self.held[id(p)] = Held(p, order, i)

    @property
    def each(self) -> list[Held]:
        """Its parameters."""
        return list(self.held.values())
