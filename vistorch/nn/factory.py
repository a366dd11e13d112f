"""Where the parameters of a module are made, as its constructor was asked to."""

from __future__ import annotations

from typing import Any


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """What of a module's arguments says how to make a tensor: `device`, `dtype`, `memory_format`.

    Args:
        kwargs: such arguments, and a dict `factory_kwargs` of more of them; TypeError for any other.

    Example:
        >>> from vistorch import nn
        >>> nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": None}})
        {'dtype': None, 'device': 'cpu'}
    """
    given = dict(kwargs or {})
    more = given.pop("factory_kwargs", {})
    if unknown := given.keys() - {"device", "dtype", "memory_format"}:
        raise TypeError(f"unexpected kwargs {unknown}")
    for twice in sorted(given.keys() & more.keys()):
        raise TypeError(f"{twice} specified twice, in **kwargs and in factory_kwargs")
    return {**more, **given}
