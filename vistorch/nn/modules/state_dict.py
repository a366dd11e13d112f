"""What a module saves and loads: `state_dict` and `load_state_dict`.

Invariant: a state dict that does not fit changes nothing. Everything is compared before the first value is copied,
except where a module has load hooks, which may change what is compared.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import Any

from ...engine.base.events import listeners
from ...engine.base.modes import no_grad
from ...engine.core.tensor import Tensor
from ...engine.library_name import library
from ..parameter import Parameter, is_lazy

EXTRA = "_extra_state"
ASSIGN, ONLY_COMPARE = "assign_to_params_buffers", "only_compare"
NO_EXTRA_STATE = "This module has no extra state: override get_extra_state() and set_extra_state() together."


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` found on one side only."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def save_members(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Write a module's own parameters and persistent buffers, without those below."""
    for name, param in module._parameters.items():
        if param is not None:
            destination[prefix + name] = param if keep_vars else param.detach()
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = buffer if keep_vars else buffer.detach()


def load(module: Any, given: Mapping[str, Any], strict: bool, assign: bool) -> _IncompatibleKeys:
    """`Module.load_state_dict`: compare all, then copy; with load hooks, both at once."""
    if not isinstance(given, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(given)}.")
    if (emit := listeners.phase) is not None:
        emit("load", module, given)
    hooked = any(m._load_state_dict_pre_hooks or m._load_state_dict_post_hooks for m in module.modules())
    if not hooked:
        _load_all(module, given, strict, assign, True)
    return _load_all(module, given, strict, assign, False)


def _load_all(root: Any, given: Mapping, strict: bool, assign: bool, only_compare: bool) -> _IncompatibleKeys:
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    metadata = getattr(given, "_metadata", None)
    state: Any = OrderedDict(given)
    if metadata is not None:
        state._metadata = metadata
    waiting: list = [(root, state, "", False)]
    while waiting:  # each module, then those below it, then its post hooks
        module, part, prefix, done = waiting.pop()
        if done:
            found = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, found) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return "
                        "new values, if incompatible_keys need to be modified, it should be done inplace."
                    )
            continue
        about = dict((metadata or {}).get(prefix[:-1], {}))
        if assign:
            about[ASSIGN] = True
        if only_compare:
            about[ONLY_COMPARE] = True
        module._load_from_state_dict(part, prefix, about, True, missing, unexpected, errors)
        waiting.append((module, part, prefix, True))
        for name, child in reversed(module._modules.items()):
            if child is not None:
                path = prefix + name + "."
                below: Any = {k: v for k, v in part.items() if k.startswith(path)}
                waiting.append((child, below, path, False))
    if strict:
        for label, keys in (("Missing", missing), ("Unexpected", unexpected)):
            if keys:
                listed = ", ".join(f'"{k}"' for k in keys)
                errors.insert(
                    label == "Unexpected" and bool(missing), f"{label} key(s) in state_dict: {listed}. "
                )
    if errors:
        raise RuntimeError(
            "Error(s) in loading state_dict for {}:\n\t{}".format(type(root).__name__, "\n\t".join(errors))
        )
    return _IncompatibleKeys(missing, unexpected)


def load_members(
    module: Any,
    state_dict: Any,
    prefix: str,
    local_metadata: dict,
    strict: bool,
    missing_keys: list,
    unexpected_keys: list,
    error_msgs: list,
    takes_extra: bool,
) -> None:
    """Copy a module's own members, without those below; `takes_extra` if it defines `set_extra_state`."""
    for hook in module._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    kept = ((k, v) for k, v in module._buffers.items() if k not in module._non_persistent_buffers_set)
    own = {k: v for k, v in itertools.chain(module._parameters.items(), kept) if v is not None}
    for name, target in own.items():
        key = prefix + name
        if key in state_dict:
            said = _load_one(module, name, target, key, state_dict[key], local_metadata)
            if said is not None:
                error_msgs.append(said)
        elif strict:
            missing_keys.append(key)
    extra = prefix + EXTRA
    if takes_extra:
        if extra in state_dict:
            if not local_metadata.get(ONLY_COMPARE):
                module.set_extra_state(state_dict[extra])
        elif strict:
            missing_keys.append(extra)
    elif strict and extra in state_dict:
        unexpected_keys.append(extra)
    if strict:
        for key in state_dict:
            if key.startswith(prefix) and key != extra:
                head, dot, _ = key[len(prefix) :].partition(".")
                if head not in (module._modules if dot else own):
                    unexpected_keys.append(key)


def _load_one(module: Any, name: str, target: Any, key: str, given: Any, about: dict) -> str | None:
    """Load one tensor; a sentence where it does not fit."""
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{key}", expected {library}.Tensor or Tensor-like object from '
            f"checkpoint but received {type(given)}"
        )
    lazy = is_lazy(target)
    if not lazy:
        if target.ndim == 0 and tuple(given.shape) == (1,):
            given = given[0]  # what PyTorch before 0.4 saved for a number
        if given.shape != target.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                f"current model is {target.shape}."
            )
    if about.get(ONLY_COMPARE):
        return None
    try:
        with no_grad():
            if not about.get(ASSIGN):
                target.copy_(given)
                return None
            if isinstance(target, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(target.requires_grad)
                else:
                    given = Parameter(given, requires_grad=target.requires_grad)
            setattr(module, name, given)
    except Exception as exc:
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are {target.size()} and '
            f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {exc.args}."
        )
    return None
