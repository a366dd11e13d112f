"""Parameter groups: what may be one, and which options it gets.

Invariant: a group that is refused leaves the optimizer, and the given dict, as they were.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor

typename = FUNCTIONS["typename"]


class _RequiredParameter:
    """Stands for an option that every group must name."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Any = _RequiredParameter()


def _listed(params: Any) -> list:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    return list(params)


def add_group(optimizer: Any, given: dict[str, Any]) -> None:
    """Check a group, fill in its options and append it."""
    if not isinstance(given, dict):
        raise TypeError(f"param_group must be a dict, but got {type(given)}")
    entries = _listed(given["params"])
    names = [entry[0] for entry in entries if isinstance(entry, tuple)]
    params = [entry[1] if isinstance(entry, tuple) else entry for entry in entries]
    if names and len(names) != len(params):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    for p in params:
        if not isinstance(p, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(p)}")
        if not optimizer.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")
    group = {**given, "params": params}
    if names:
        group["param_names"] = names
    for name, default in optimizer.defaults.items():
        if default is required and name not in group:
            raise ValueError(
                f"parameter group didn't specify a value of required optimization parameter {name}"
            )
        group.setdefault(name, default)
    if len(params) != len(set(params)):
        warnings.warn(
            "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
            "github.com/pytorch/pytorch/issues/40967 for more information",
            UserWarning,
            stacklevel=4,
        )
    for other in optimizer.param_groups:
        if ("param_names" in other) != ("param_names" in group):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with names' if 'param_names' in group else 'without names'} to the optimizer"
            )
        if not set(other["params"]).isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
    given.update(group)  # PyTorch's groups are the dicts that were given
    optimizer.param_groups.append(given)
