"""A module called with other tensors in place of its parameters and buffers.

Invariant: when a call returns or raises, the module holds what it held before.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...engine.core.tensor import Tensor
from ...engine.library_name import library

__all__ = ["functional_call"]

MISSING: Any = object()


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The old place of `vistorch.func.functional_call`.

    Args:
        module: the module to call.
        parameters_and_buffers: tensors by name.
        args: the arguments of the call.
        kwargs: the arguments by name.
        tie_weights: whether a tensor given for a shared parameter stands for all its names.
        strict: refuse names that only one side has.

    Example:
        >>> import vistorch, warnings
        >>> layer = vistorch.nn.Linear(2, 1, bias=False)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it has moved to vistorch.func
        ...     other = {"weight": vistorch.tensor([[1.0, 2.0]])}
        ...     vistorch.nn.utils.stateless.functional_call(layer, other, vistorch.ones(2))
        tensor([3.])
    """
    warnings.warn(
        f"`{library}.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a "
        "future "
        f"version of PyTorch. Please use `{library}.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`functional_call` without its warning."""
    if type(module).__name__ == "DataParallel":
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Any, parameters_and_buffers: dict[str, Tensor], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Within it, the module holds the given tensors."""
    given = _untied(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check_names(module, given)
    held: dict[str, tuple] = {}  # what was there
    try:
        for name, tensor in given.items():
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(f"{tensor} is not an instance of {library}.Tensor")
            owner, key = _owner_of(module, name)
            held[name] = owner, key, _exchanged(owner, key, tensor)
        yield
    finally:
        for name, (owner, key, old) in reversed(held.items()):
            now = _exchanged(owner, key, old)
            if name in parameters_and_buffers:
                parameters_and_buffers[name] = now  # a buffer that the call replaced


def _owner_of(module: Any, name: str) -> tuple[Any, str]:
    """The module that holds a parameter or buffer, and its name there."""
    path, _, key = name.rpartition(".")
    owner = module
    for step in path.split(".") if path else ():
        found = getattr(owner, step, None)
        if found is None:
            raise AttributeError(f"{owner._get_name()} has no attribute `{step}`")
        owner = found
    return owner, key


def _exchanged(owner: Any, key: str, tensor: Any) -> Any:
    """Put a tensor in place of what a module holds, and return that; MISSING stands for nothing."""
    for table in (owner._parameters, owner._buffers):
        if key in table:
            old, table[key] = table[key], tensor  # past the checks of an assignment: it need be no Parameter
            return old
    old = getattr(owner, key, MISSING)
    if not (old is MISSING or old is None or isinstance(old, Tensor)):
        raise TypeError(f"attribute `{key}`: {old} is not an instance of {library}.Tensor")
    if tensor is MISSING:
        delattr(owner, key)
    else:
        setattr(owner, key, tensor)
    return old


def _names(module: Any) -> dict[str, Tensor]:
    """All parameters and buffers, a shared one under each of its names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _untied(module: Any, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """What is given, under all names that share the parameter it is given for."""
    groups: dict[Tensor, list[str]] = {}
    for name, tensor in _names(module).items():
        groups.setdefault(tensor, []).append(name)
    result = dict(given)
    for names in groups.values():
        meant = [given[name] for name in names if name in given]
        if len(names) < 2 or not meant:
            continue
        if any(tensor is not meant[0] for tensor in meant):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. "
                "Consider using tie_weights=False"
            )
        result.update(dict.fromkeys(names, meant[0]))
    return result


def _check_names(module: Any, given: dict[str, Tensor]) -> None:
    known = _names(module)
    said = [
        f"{what} key(s): {', '.join(map(repr, keys))}."
        for what, keys in (
            ("Unexpected", [name for name in given if name not in known]),
            ("Missing", [name for name in known if name not in given]),
        )
        if keys
    ]
    if said:
        raise RuntimeError(
            "Error(s) in reparametrizing for {}:\n\t{}".format(module._get_name(), "\n\t".join(said))
        )
