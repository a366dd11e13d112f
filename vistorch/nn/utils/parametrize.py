"""Parameters that are computed: an attribute of a module becomes a function of what is really learned.

A parametrized module gets a class of its own, `ParametrizedLinear`, that has a property for each computed tensor; what
is learned lives in `module.parametrizations[name]`.

Invariant: a module whose last parametrization is removed has its old class again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...engine.base.modes import no_grad
from ...engine.core.tensor import Tensor
from ..modules.container import ModuleDict
from ..modules.module import Module
from ..parameter import Parameter
from .parametrization_list import NO_TENSOR, ParametrizationList
from .parametrized import checked, class_of_own, enter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]


class _Cache:
    """What parametrizations gave while `cached()` is entered, by module and name."""

    def __init__(self) -> None:
        self.depth = 0
        self.found: dict[tuple[int, str], Tensor] = {}


_cache = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Within it, each parametrized tensor is computed once, however often it is used.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import parametrize, parametrizations
        >>> layer = parametrizations.weight_norm(vistorch.nn.Linear(2, 3))
        >>> with parametrize.cached():
        ...     print(layer.weight is layer.weight)
        True
    """
    _cache.depth += 1
    try:
        yield
    finally:
        _cache.depth -= 1
        if not _cache.depth:
            _cache.found = {}


def _property_of(name: str) -> property:
    """Reading computes the tensor, writing sets what it is computed from."""

    def get(self: Any) -> Any:
        compute = self.parametrizations[name]
        if not _cache.depth:
            return compute()
        key = id(self), name  # a copy of the module has the same property
        found = _cache.found.get(key)
        if found is None:
            found = _cache.found[key] = compute()
        return found

    def put(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, put)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make a parameter or buffer of a module a function of what is learned instead.

    Args:
        module: the module; it is changed and returned.
        tensor_name: the name of the parameter or buffer.
        parametrization: a module whose `forward` takes what is learned and gives the tensor. Where the tensor is
            parametrized already, the new parametrization comes after the others.
        unsafe: whether it may change the tensor's type or shape.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import parametrize
        >>> class Symmetric(vistorch.nn.Module):
        ...     def forward(self, X):
        ...         return X.triu() + X.triu(1).transpose(-1, -2)
        >>> layer = vistorch.nn.Linear(2, 2, bias=False)
        >>> parametrize.register_parametrization(layer, "weight", Symmetric())
        ParametrizedLinear(
          in_features=2, out_features=2, bias=False
          (parametrizations): ModuleDict(
            (weight): ParametrizationList(
              (0): Symmetric()
            )
          )
        )
        >>> vistorch.equal(layer.weight, layer.weight.T)
        True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        entered: Any = module.parametrizations[tensor_name]
        entered.append(parametrization)
        entered.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            module.__class__ = class_of_own(type(module))
            module.add_module("parametrizations", ModuleDict())
        setattr(type(module), tensor_name, _property_of(tensor_name))
        tables: Any = module.parametrizations
        tables[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_further(module: Module, name: str, parametrization: Any) -> None:
    """Refuse a further parametrization that changes the tensor's type or shape, in either direction."""
    before = getattr(module, name)
    after = parametrization(before)
    mine = f"module.{name}"
    checked(
        after,
        before.shape,
        before.dtype,
        NO_TENSOR,
        "Registering a parametrization may not change the {} of the tensor, unless the `unsafe` flag is enabled.",
        (mine + ".{}", f"parametrization({mine}).{{}}"),
    )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        source = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    checked(
        source,
        before.shape,
        before.dtype,
        "parametrization.right_inverse must return a tensor. Got: {}",
        f"The tensor returned by parametrization.right_inverse must have the same {{}} as {mine}, unless the `unsafe` "
        "flag is enabled.",
        (mine + ".{}", "returned {}"),
    )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations.

    Args:
        module: the module.
        tensor_name: ask for this tensor only.

    Example:
        >>> import vistorch
        >>> vistorch.nn.utils.parametrize.is_parametrized(vistorch.nn.Linear(2, 2))
        False
    """
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a computed tensor a parameter or buffer again.

    Args:
        module: the module; it is changed and returned.
        tensor_name: the name of the tensor.
        leave_parametrized: keep the value it is computed to; False goes back to what is learned.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import parametrize, parametrizations
        >>> layer = parametrizations.weight_norm(vistorch.nn.Linear(2, 3))
        >>> parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=3, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    entered: Any = module.parametrizations[tensor_name]
    if entered.is_tensor:
        tensor = entered.original
        if leave_parametrized:
            with no_grad():
                tensor.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        tensor = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    enter(module, tensor_name, tensor)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module, or the one that it had before it was parametrized.

    Args:
        module: the module.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.nn.utils import parametrizations, parametrize
        >>> layer = parametrizations.weight_norm(nn.Linear(2, 3))
        >>> type(layer).__name__, parametrize.type_before_parametrizations(layer) is nn.Linear
        ('ParametrizedLinear', True)
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Parametrize a module as another is, with the same learned tensors.

    Args:
        from_module: the parametrized module.
        to_module: the module to change; it is returned.
        tensor_name: do so for this tensor only.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.nn.utils import parametrizations, parametrize
        >>> first = parametrizations.weight_norm(nn.Linear(2, 3))
        >>> second = parametrize.transfer_parametrizations_and_params(first, nn.Linear(2, 3))
        >>> second.parametrizations.weight.original0 is first.parametrizations.weight.original0
        True
    """
    if not is_parametrized(from_module):
        return to_module
    given: Any = from_module.parametrizations
    for name in list(given) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):  # one to put in place of
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in given[name]:
            register_parametrization(to_module, name, parametrization)
        target: Any = to_module.parametrizations
        names = (
            ["original"] if given[name].is_tensor else [f"original{i}" for i in range(given[name].ntensors)]
        )
        for each in names:
            setattr(target[name], each, getattr(given[name], each))
    return to_module
