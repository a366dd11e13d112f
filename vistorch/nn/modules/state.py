"""What a module saves and loads: `state_dict` and `load_state_dict`.

Invariant: a state dict that does not fit changes nothing. Everything is compared before the first value is copied,
except where a module has load hooks, which may change what is compared.
"""

from __future__ import annotations

import itertools
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from ...engine.handles import RemovableHandle
from ...engine.modes import no_grad
from ...engine.tensor import Tensor
from ..parameter import Parameter, is_lazy
from .calls import BoundHook

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


class State:
    """The part of Module that saves and loads it."""

    _version: int = 1
    _parameters: dict
    _buffers: dict
    _modules: dict
    _non_persistent_buffers_set: set
    _state_dict_hooks: Any
    _state_dict_pre_hooks: Any
    _load_state_dict_pre_hooks: Any
    _load_state_dict_post_hooks: Any
    modules: Callable

    # ---- saving ------------------------------------------------------------------------------------------------
    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by name; they share memory with the module.

        Args:
            *args: the arguments below in order, as old programs give them.
            destination: the dict to write to.
            prefix: what every name begins with.
            keep_vars: the parameters themselves, not detached.

        Example:
            >>> import vistorch
            >>> list(vistorch.nn.Linear(2, 3).state_dict())
            ['weight', 'bias']
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            given: Any = (*args, *(destination, prefix, keep_vars)[len(args) :])
            destination, prefix, keep_vars = given[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        about: dict = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = about
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, about)
            if result is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Write this module's own members, without those below."""
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """Anything else to save, for a subclass to define.

        Example:
            >>> import vistorch
            >>> class Counter(vistorch.nn.Module):
            ...     calls = 0
            ...     def get_extra_state(self):
            ...         return {"calls": self.calls}
            ...     def set_extra_state(self, state):
            ...         self.calls = state["calls"]
            >>> counter = Counter()
            >>> counter.calls = 5
            >>> counter.state_dict()
            OrderedDict([('_extra_state', {'calls': 5})])
        """
        raise RuntimeError(NO_EXTRA_STATE)

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave, for a subclass to define.

        Example:
            >>> import vistorch
            >>> class Counter(vistorch.nn.Module):
            ...     calls = 0
            ...     def get_extra_state(self):
            ...         return {"calls": self.calls}
            ...     def set_extra_state(self, state):
            ...         self.calls = state["calls"]
            >>> counter = Counter()
            >>> counter.load_state_dict({"_extra_state": {"calls": 5}})
            <All keys matched successfully>
            >>> counter.calls
            5
        """
        raise RuntimeError(NO_EXTRA_STATE)

    # ---- loading -----------------------------------------------------------------------------------------------
    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy the values of a state dict into this module.

        Args:
            state_dict: tensors by name.
            strict: refuse names that only one side has.
            assign: take the tensors themselves instead of copying their values.

        Example:
            >>> import vistorch
            >>> a, b = vistorch.nn.Linear(2, 3), vistorch.nn.Linear(2, 3)
            >>> a.load_state_dict(b.state_dict())
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        hooked = any(m._load_state_dict_pre_hooks or m._load_state_dict_post_hooks for m in self.modules())
        if not hooked:
            self._load_all(state_dict, strict, assign, True)
        return self._load_all(state_dict, strict, assign, False)

    def _load_all(self, given: Mapping, strict: bool, assign: bool, only_compare: bool) -> _IncompatibleKeys:
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(given, "_metadata", None)
        state: Any = OrderedDict(given)
        if metadata is not None:
            state._metadata = metadata
        waiting: list = [(self, state, "", False)]
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
                "Error(s) in loading state_dict for {}:\n\t{}".format(
                    type(self).__name__, "\n\t".join(errors)
                )
            )
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list,
        unexpected_keys: list,
        error_msgs: list,
    ) -> None:
        """Copy this module's own members, without those below; a subclass may read older versions here."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        kept = ((k, v) for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set)
        own = {k: v for k, v in itertools.chain(self._parameters.items(), kept) if v is not None}
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                said = self._load_one(name, target, key, state_dict[key], local_metadata)
                if said is not None:
                    error_msgs.append(said)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA
        if type(self).set_extra_state is not State.set_extra_state:
            if extra in state_dict:
                if not local_metadata.get(ONLY_COMPARE):
                    self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    head, dot, _ = key[len(prefix) :].partition(".")
                    if head not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    def _load_one(self, name: str, target: Any, key: str, given: Any, about: dict) -> str | None:
        """Load one tensor; a sentence where it does not fit."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected vistorch.Tensor or Tensor-like object from '
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
                setattr(self, name, given)
        except Exception as exc:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {target.size()} and '
                f"whose dimensions in the checkpoint are {given.size()}, an exception occurred : {exc.args}."
            )
        return None

    # ---- hooks -------------------------------------------------------------------------------------------------
    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return _entered(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after the state dict is filled.

        Args:
            hook: a function that may change the state dict in place and returns None.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3)
            >>> h = m.register_state_dict_post_hook(lambda m, state, prefix, about: state.update(lr=0.1))
            >>> list(m.state_dict())
            ['weight', 'bias', 'lr']
        """
        hook._from_public_api = True
        return _entered(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state dict is filled.

        Args:
            hook: a function.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3)
            >>> h = m.register_state_dict_pre_hook(lambda m, prefix, keep_vars: print("saving", type(m).__name__))
            >>> state = m.state_dict()
            saving Linear
        """
        return _entered(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable, with_module: bool = False
    ) -> RemovableHandle:
        return _entered(self._load_state_dict_pre_hooks, BoundHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading.

        Args:
            hook: a function that may change the state dict and the lists in place.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3, bias=False)
            >>> def rename(module, state, *rest):
            ...     state["weight"] = state.pop("w")
            >>> h = m.register_load_state_dict_pre_hook(rename)
            >>> m.load_state_dict({"w": vistorch.zeros(3, 2)})
            <All keys matched successfully>
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after the module is loaded.

        Args:
            hook: a function that may change the lists in place and returns None.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3)
            >>> h = m.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.remove("bias"))
            >>> m.load_state_dict({"weight": vistorch.zeros(3, 2)})  # without the hook this would be refused
            <All keys matched successfully>
        """
        return _entered(self._load_state_dict_post_hooks, hook)


def _entered(hooks: Any, hook: Callable) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
