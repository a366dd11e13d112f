"""Modules as functions of their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.utils.stateless import _functional_call

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]

stack = FUNCTIONS["stack"]


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let no batch norm in a module keep running statistics, which samples of a `vmap` cannot share; the module itself.

    Args:
        root: the module, which is changed.

    Example:
        >>> import vistorch
        >>> net = vistorch.nn.Sequential(vistorch.nn.Linear(2, 3), vistorch.nn.BatchNorm1d(3))
        >>> vistorch.func.replace_all_batch_norm_modules_(net)[1].running_mean is None
        True
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of its parameters and buffers; it stays as it is.

    Args:
        module: the module to call.
        parameter_and_buffer_dicts: tensors by name, in a dict or several; what is not named is the module's own.
        args: the argument of the call, or a tuple of them.
        kwargs: the arguments by name.
        tie_weights: whether a tensor given for a shared parameter stands for all its names.
        strict: refuse names that only one side has.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.Linear(2, 1)
        >>> given = {"weight": vistorch.ones(1, 2), "bias": vistorch.zeros(1)}
        >>> vistorch.func.functional_call(layer, given, vistorch.tensor([1.0, 2.0]))
        tensor([3.])
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        if not isinstance(given, Sequence):
            raise ValueError(
                "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                f"{type(given)}"
            )
        if not all(isinstance(each, dict) for each in given):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        counts = Counter(key for each in given for key in each)
        repeated = [key for key, n in counts.items() if n > 1]
        if repeated:
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        given = {key: value for each in given for key, value in each.items()}
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several models of one class, each stacked along a new first dim.

    Args:
        models: a sequence of modules.

    Example:
        >>> import vistorch
        >>> params, buffers = vistorch.func.stack_module_state([vistorch.nn.Linear(2, 3) for _ in range(4)])
        >>> params["weight"].shape
        vistorch.Size([4, 3, 2])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(m.training) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(m.named_parameters()) for m in models]),
        _stacked([dict(m.named_buffers()) for m in models]),
    )


def _stacked(members: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The tensors of several dicts by name; a stack of leaves is a leaf."""
    result = {}
    for name in members[0]:
        tensors = [each[name] for each in members]
        asks = {t.requires_grad for t in tensors}
        if len(asks) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        whole = stack(tensors)
        result[name] = whole.detach().requires_grad_() if asks == {True} else whole
    return result
