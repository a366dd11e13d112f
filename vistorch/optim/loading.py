"""What a saved state must be like before an optimizer or a schedule takes it.

Invariant: nothing is changed by what is refused: all is checked first, and what fails later is undone.
"""

from __future__ import annotations

import math
import numbers
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from itertools import chain
from typing import Any

from ..engine.base import dtypes
from ..engine.core.tensor import Tensor


@contextmanager
def undone(*objects: Any) -> Iterator[None]:
    """Give objects their attributes back if the block fails.

    Args:
        *objects: whose attributes are replaced in the block, not changed in place.
    """
    before = [(o, dict(vars(o))) for o in objects]
    try:
        yield
    except BaseException:
        for o, attributes in before:
            vars(o).clear()
            vars(o).update(attributes)
        raise


# ---- optimizers --------------------------------------------------------------------------------------------------
def take(optimizer: Any, state_dict: Any) -> None:
    """Give an optimizer a saved state.

    Args:
        optimizer: the optimizer.
        state_dict: what `state_dict()` of such an optimizer returned.
    """
    before = optimizer.param_groups
    try:
        optimizer.__setstate__(fitted(optimizer, state_dict))
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"the loaded state dict does not fit: {type(error).__name__}: {error}") from error
    for i, (old, new) in enumerate(zip(before, optimizer.param_groups, strict=True)):
        missing = [name for name in optimizer.defaults if name in old and name not in new]
        if missing:
            raise ValueError(f"group {i} of the loaded state dict has no {missing[0]!r}")


def fitted(optimizer: Any, state_dict: Any) -> dict[str, Any]:
    """The state and the groups of a saved state, checked, for an optimizer's parameters.

    Args:
        optimizer: the optimizer.
        state_dict: what `state_dict()` of such an optimizer returned.
    """
    for name, kind in (("param_groups", list), ("state", dict)):
        if not isinstance(state_dict.get(name), kind):
            given = type(state_dict[name]).__name__ if name in state_dict else "nothing"
            raise ValueError(f"loaded state dict must have a {kind.__name__} under {name!r}, got {given}")
    saved = deepcopy(state_dict["param_groups"])
    if len(saved) != len(optimizer.param_groups):
        raise ValueError("loaded state dict has a different number of parameter groups")
    for i, (old, new) in enumerate(zip(optimizer.param_groups, saved, strict=True)):
        if not isinstance(new, dict) or not isinstance(new.get("params"), (list, tuple)):
            raise ValueError(f"group {i} of the loaded state dict must be a dict with a list of 'params'")
        if len(old["params"]) != len(new["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        for name, value in new.items():
            if name == "params" or name not in old:
                continue
            default = optimizer.defaults.get(name, old[name])
            usual = old[name] if default is None else default
            if not (like(usual, value, default) if usual is not None else _is_plain(value)):
                raise ValueError(
                    f"group {i} of the loaded state dict has {shown(value)} as {name!r}, this one "
                    f"{shown(old[name])}"
                )
    ids = list(chain.from_iterable(group["params"] for group in saved))
    if not all(isinstance(k, Hashable) for k in ids):
        raise ValueError("the parameters of a loaded state dict are named by their numbers")
    params = chain.from_iterable(group["params"] for group in optimizer.param_groups)
    groups = chain.from_iterable([group] * len(group["params"]) for group in saved)
    owner = {k: (p, group) for k, p, group in zip(ids, params, groups, strict=True)}
    state: Any = defaultdict(dict)
    for k, v in state_dict["state"].items():
        if k not in owner:
            state[k] = v
            continue
        p, group = owner[k]
        if not isinstance(v, dict):
            raise ValueError(f"the loaded state of parameter {k!r} must be a dict, got {type(v).__name__}")
        state[p] = _moved(p, v, group)
        optimizer._settle_state(p, state[p], {**optimizer.defaults, **group}, k)
    for old, new in zip(optimizer.param_groups, saved, strict=True):
        new["params"] = old["params"]
        if "param_names" in old:
            new.setdefault("param_names", old["param_names"])
    return {"state": state, "param_groups": saved}


def _moved(p: Tensor, value: Any, group: dict, key: Hashable = None) -> Any:
    """A value of a saved state in the type and at the place of its parameter; a step count stays as it is."""
    if isinstance(value, Tensor):
        if key == "step":
            if group.get("capturable") or group.get("fused"):
                return value.to(dtype=dtypes.float32, device=p.device)
            return value
        return (
            value.to(dtype=p.dtype, device=p.device) if p.is_floating_point() else value.to(device=p.device)
        )
    if isinstance(value, dict):
        return {k: _moved(p, v, group, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_moved(p, v, group) for v in value)  # type: ignore[call-arg]
    return value


def check_entries(saved: dict, expected: dict[str, Any], number: Hashable) -> None:
    """Refuse entries of a parameter's state that a step could not use; what is None there has not begun and goes.

    Args:
        saved: the entries.
        expected: those of a state that has just begun; others are not looked at.
        number: the parameter's, for the sentence.
    """
    for name, begun in expected.items():
        value = saved.get(name)
        if not isinstance(begun, Tensor):
            continue
        if value is None:
            saved.pop(name, None)
            if saved and not begun.dim():  # without its count a state means nothing
                raise ValueError(f"the loaded state of parameter {number!r} has no {name!r}")
            continue
        if name == "step" and _is_number(value) and not 0 <= float(value) < math.inf:
            raise ValueError(f"the loaded state of parameter {number!r} has taken {float(value)} steps")
        if isinstance(value, Tensor) and (
            value.shape == begun.shape or (not begun.dim() and value.numel() == 1)
        ):
            continue
        if not begun.dim() and _is_number(value):  # as older versions saved it
            saved[name] = begun.fill_(float(value))
            continue
        raise ValueError(
            f"the loaded state of parameter {number!r} has {shown(value)} as {name!r}, expected a tensor of shape "
            f"{tuple(begun.shape)}"
        )


# ---- what may take whose place -----------------------------------------------------------------------------------
def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.numel() == 1 and not value.is_complex()
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return isinstance(value, numbers.Number) and not isinstance(value, bool)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, str)) or _is_number(value)


def like(old: Any, new: Any, default: Any = 0) -> bool:
    """Whether a value may take another's place: a number a number's, a flag a flag's.

    Args:
        old: what is there.
        new: what is to be there.
        default: what was there at first: what began as None may become it again.
    """
    if old is None:
        return True
    if new is None:
        return default is None
    if isinstance(old, bool):
        return isinstance(new, bool) or (type(new) is int and new in (0, 1))
    if _is_number(old):
        return _is_number(new) or (isinstance(new, Tensor) and isinstance(old, Tensor))
    if isinstance(old, Mapping):
        return isinstance(new, Mapping)
    if isinstance(old, (list, tuple)):
        if not isinstance(new, (list, tuple)):
            return False
        return len(old) != len(new) or all(
            a is None or b is None or like(a, b) for a, b in zip(old, new, strict=True)
        )
    if isinstance(old, str):
        return isinstance(new, str)
    return not callable(old) or callable(new)


def check_attributes(owner: Any, saved: Any, besides: tuple[str, ...] = ()) -> None:
    """Refuse attributes that could not take the place of those an object has.

    Args:
        owner: the object, as a schedule.
        saved: what `state_dict()` of such an object returned.
        besides: names that it must have, which the object takes by itself.
    """
    kind = type(owner).__name__
    if not isinstance(saved, Mapping) or not all(isinstance(name, str) for name in saved):
        raise ValueError(f"the state of {kind} must be a dict by name, got {shown(saved)}")
    for name in besides:
        if name not in saved:
            raise ValueError(f"the state of {kind} has no {name!r}: it is another schedule's")
    there = vars(owner)
    for name, value in saved.items():
        if name in besides:
            continue
        if name == "optimizer" or (name not in there and hasattr(type(owner), name)):
            raise ValueError(f"the state of {kind} would replace its {name!r}")
        if name in there and not like(there[name], value):
            raise ValueError(
                f"the state of {kind} has {shown(value)} as {name!r}, this one {shown(there[name])}"
            )


def shown(value: Any) -> str:
    """A value in a sentence.

    Args:
        value: the value.
    """
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)[:40]
    return f"a {type(value).__name__}"
