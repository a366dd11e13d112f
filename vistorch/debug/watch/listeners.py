"""The followers of a run: one for each library that the loop may run on.

A model or an optimizer that was given says which it is; else what steps first shows it.
Invariant: one follower knows the root; the others see nothing of that loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..source import Source, Unsupported, active, has, own, real_torch, source_of
from .follower import LoopFollower
from .loss_inputs import LossInputs

TOO_LATE = (
    "PyTorch was imported while the loop ran, too late to be seen: run it again to watch what trains on it."
)


class Listeners:
    """Starts, stops and asks the followers.

    Args:
        given: the model and the optimizer, None for what is not known.
        make: makes the follower of a source.
    """

    def __init__(self, given: tuple, make: Callable[[Source], LoopFollower]) -> None:
        named = next((found for one in given if one is not None and (found := _of(one)) is not None), None)
        self.refused = ""  # why what runs on PyTorch cannot be watched
        self.had_torch = real_torch() is not None
        self.each: list[Any] = []
        for source in active() if named is None else [named]:
            if not has(source, "watch"):
                continue
            try:
                self.each.append(make(source))
            except Unsupported as why:
                if named is not None:
                    raise
                self.refused = str(why)
        if not self.each:
            self.each.append(make(own()))

    @property
    def main(self) -> Any:
        """The one that follows the loop, as far as that is known."""
        return next((one for one in self.each if one.root is not None), self.each[-1])

    def start(self) -> None:
        """Start to listen."""
        for one in self.each:
            one.__enter__()

    def close(self) -> None:
        """Stop all listening."""
        for one in self.each:
            one.close()

    def why_none(self) -> str:
        """Why no step was counted; "" where nothing is known of it."""
        if not self.had_torch and real_torch() is not None:
            return TOO_LATE
        return next((why for one in self.each if (why := one.why_none())), "") or self.refused

    def observe(self, sight: LossInputs) -> None:
        """Take in a batch that was given by hand."""
        self.main.observe(sight)


def _of(given: Any) -> Source | None:
    """The source of a model or an optimizer."""
    found = source_of(given)
    if found is None and hasattr(given, "parameters"):
        found = source_of(list(given.parameters()))
    if found is None and hasattr(given, "param_groups"):
        found = source_of([p for group in given.param_groups for p in group["params"]])
    return found
