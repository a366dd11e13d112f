"""Pruning: a parameter becomes `weight_orig` times `weight_mask`, so that training goes on with what is left.

The functions here prune a module in one line; the methods behind them are in `pruning.py`, what a method is in
`pruning_base.py`.

Invariant: a pruned tensor has one hook, which multiplies before each `forward`; several methods share a container.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .convert_parameters import parameters_to_vector
from .pruning import (
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    RandomStructured,
    RandomUnstructured,
)
from .pruning_base import BasePruningMethod, PruningContainer

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

ones_like = FUNCTIONS["ones_like"]
for _kind in (BasePruningMethod, PruningContainer, CustomFromMask, Identity, L1Unstructured, LnStructured):
    _kind.__module__ = __name__  # where PyTorch has them, and pickles look for them
RandomStructured.__module__ = RandomUnstructured.__module__ = __name__


def identity(module: Any, name: str) -> Any:
    """Make a parameter a pruned one from which nothing is taken yet.

    Args:
        module: the module; it is changed and returned.
        name: the name of the parameter.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.identity(vistorch.nn.Linear(2, 2), "weight").weight_mask
        tensor([[1., 1.],
                [1., 1.]])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune single values by chance.

    Args:
        module: the module; it is changed and returned.
        name: the name of the parameter.
        amount: which part of them, or how many.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.utils.prune.random_unstructured(vistorch.nn.Linear(2, 3), "weight", amount=2)
        >>> layer.weight_mask.sum()
        tensor(4.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Tensor | None = None) -> Any:
    """Prune the values that are closest to zero.

    Args:
        module: the module; it is changed and returned.
        name: the name of the parameter.
        amount: which part of them, or how many.
        importance_scores: judge by these instead of the parameter.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.Linear(2, 2)
        >>> layer.weight.data = vistorch.tensor([[0.1, -2.0], [3.0, -0.2]])
        >>> vistorch.nn.utils.prune.l1_unstructured(layer, "weight", amount=0.5).weight_mask
        tensor([[0., 1.],
                [1., 0.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune whole slices along a dim by chance.

    Args:
        module: the module; it is changed and returned.
        name: the name of the parameter.
        amount: which part of them, or how many.
        dim: the dim that counts the slices.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> layer = prune.random_structured(vistorch.nn.Linear(3, 4), "weight", amount=1, dim=0)
        >>> layer.weight_mask.sum()  # one of four rows of three is gone
        tensor(9.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """Prune the slices along a dim that have the least norm.

    Args:
        module: the module; it is changed and returned.
        name: the name of the parameter.
        amount: which part of them, or how many.
        n: which norm.
        dim: the dim that counts the slices.
        importance_scores: judge by these instead of the parameter.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.Linear(2, 2)
        >>> layer.weight.data = vistorch.tensor([[0.1, -2.0], [3.0, -0.2]])
        >>> vistorch.nn.utils.prune.ln_structured(layer, "weight", amount=1, n=2, dim=0).weight_mask
        tensor([[0., 0.],
                [1., 1.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: dict | None = None, **kwargs: Any
) -> None:
    """Prune the values of several parameters as if they were one vector.

    Args:
        parameters: pairs of a module and the name of a parameter.
        pruning_method: the class of an unstructured method.
        importance_scores: judge by these tensors, by pair, instead of the parameters.
        **kwargs: the arguments of the method, such as `amount`.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> a, b = vistorch.nn.Linear(2, 2), vistorch.nn.Linear(2, 2)
        >>> prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=0.5)
        >>> a.weight_mask.sum() + b.weight_mask.sum()
        tensor(4.)
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is None:
        importance_scores = {}
    elif not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs: list = list(parameters)
    tensors = [getattr(module, name) for module, name in pairs]
    scores = [importance_scores.get(tuple(pair), t) for pair, t in zip(pairs, tensors, strict=True)]
    masks: Any = [
        getattr(module, name + "_mask", None) if hasattr(module, name + "_mask") else ones_like(t)
        for (module, name), t in zip(pairs, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    whole = PruningContainer(method).compute_mask(parameters_to_vector(scores), parameters_to_vector(masks))
    start = 0
    for (module, name), t in zip(pairs, tensors, strict=True):
        end = start + t.numel()
        custom_from_mask(module, name, mask=whole[start:end].view_as(t))
        start = end


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune what a mask has zeros for.

    Args:
        module: the module; it is changed and returned.
        name: the name of the parameter.
        mask: of the parameter's shape.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.Linear(2, 1)
        >>> layer = vistorch.nn.utils.prune.custom_from_mask(layer, "bias", vistorch.tensor([0]))
        >>> layer.bias == 0
        tensor([True])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter an ordinary one again, with zeros where it was pruned.

    Args:
        module: the module; it is changed and returned.
        name: the name of the parameter.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> layer = prune.l1_unstructured(vistorch.nn.Linear(2, 2), "weight", amount=1)
        >>> layer = prune.remove(layer, "weight")
        >>> sorted(layer.state_dict()), int((layer.weight == 0).sum())
        (['bias', 'weight'], 1)
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether a module, or one below it, has a pruned parameter.

    Args:
        module: the module.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.is_pruned(prune.identity(vistorch.nn.Linear(2, 3), "bias"))
        True
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        for hook in each._forward_pre_hooks.values()
    )
