"""The momentum of an optimizer as something a schedule moves: `momentum`, or the first of `betas`.

Invariant: a group holds the bounds of its own momentum, so that a saved optimizer can go on without the schedule.
"""

from __future__ import annotations

from typing import Any

from .base import per_group


def uses_betas(optimizer: Any) -> bool:
    """Whether the momentum is the first of `betas`; an optimizer with neither is refused."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def put_momentum(group: dict, value: Any, betas: bool) -> None:
    """Change the momentum of a group."""
    if betas:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def begin(optimizer: Any, base: list, top: list, betas: bool) -> None:
    """Let every group begin at its largest momentum."""
    for group, most, least in zip(optimizer.param_groups, top, base, strict=True):
        put_momentum(group, most, betas)
        group["max_momentum"] = most
        group["base_momentum"] = least


def bounds(optimizer: Any, base: Any, top: Any) -> tuple[list, list]:
    """The smallest and the largest momentum of every group."""
    return per_group("base_momentum", optimizer, base), per_group("max_momentum", optimizer, top)
