"""The optimizers of a watched loop: which of them change the model, and which one's steps count.

Invariant: an optimizer is asked once what it holds; the first that steps and changes the model is the main one.
"""

from __future__ import annotations

from typing import Any

SCHEDULERS = 8  # the newest that are kept


class Optimizers:
    """The optimizers that have made a step, and the schedulers.

    Args:
        given: the optimizer whose steps count; None: the first that steps and holds parameters of the model.
    """

    def __init__(self, given: Any = None) -> None:
        self.given = given
        self.main: Any = None
        self.known: dict[int, tuple[Any, bool]] = {}  # by id: (optimizer, whether it changes the model)
        self.others = 0  # steps of optimizers other than the main one
        self.schedulers: list = []

    def is_known(self, optimizer: Any) -> bool:
        """Whether it has stepped before; ids are used again, so the object is compared."""
        known = self.known.get(id(optimizer))
        return known is not None and known[0] is optimizer

    def add(self, optimizer: Any, parameter_ids: set[int]) -> None:
        """Take in an optimizer that is about to make its first step.

        Args:
            optimizer: the optimizer.
            parameter_ids: ids of the model's parameters.
        """
        held = {id(p) for p in parameters_of(optimizer)}
        ours = optimizer is self.given or (self.given is None and bool(held & parameter_ids))
        self.known[id(optimizer)] = optimizer, ours
        if ours and self.main is None:
            self.main = optimizer

    def of_model(self) -> list:
        """Those that change the model."""
        return [o for o, ours in self.known.values() if ours]

    def parameter_ids(self) -> set[int]:
        """Ids of all that they hold."""
        return {id(p) for o, _ in list(self.known.values()) for p in parameters_of(o)}

    def add_scheduler(self, scheduler: Any, *_: Any) -> None:
        """Take in a scheduler that has made a step."""
        if all(s is not scheduler for s in self.schedulers):
            self.schedulers = [*self.schedulers[1 - SCHEDULERS :], scheduler]

    @property
    def rate(self) -> float | None:
        """The learning rate of the first group of the main one."""
        if self.main is None or "lr" not in self.main.param_groups[0]:
            return None
        return float(self.main.param_groups[0]["lr"])


def parameters_of(optimizer: Any) -> list:
    """The tensors that an optimizer changes."""
    return [p for group in optimizer.param_groups for p in group["params"]]
