"""Weight normalisation in its old form: a hook computes the weight before each call.

`weight` is `weight_g * weight_v / |weight_v|`, where the norm is taken along all dims but one.

Invariant: while the hook is there, `weight` is no parameter but a plain tensor, computed anew before each `forward`.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...engine.core.tensor import Tensor
from ...engine.library_name import library
from ..parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """The lengths along all dims but one, which stays; of everything for -1."""
    if dim == -1:
        return v.norm()
    others = [i for i in range(v.ndim) if i != dim % v.ndim]
    return v.norm(2, others, keepdim=True) if others else v.abs()


def normalized(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """The vectors of `v` with the lengths `g`."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook that computes one weight.

    Args:
        name: the name of the weight.
        dim: the dim along which lengths are kept apart; -1 or None for one length.

    Example:
        >>> import vistorch, warnings
        >>> from vistorch.nn.utils.weight_norm import WeightNorm
        >>> layer = vistorch.nn.Linear(2, 1, bias=False)
        >>> layer.weight.data = vistorch.tensor([[3.0, 4.0]])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     hook = WeightNorm.apply(layer, "weight", dim=0)
        >>> layer.weight_g.data.fill_(10.0)  # the length alone; it was 5
        tensor([[10.]])
        >>> hook.compute_weight(layer).detach()
        tensor([[6., 8.]])
        >>> hook.remove(layer)
        >>> list(layer.state_dict())
        ['weight']
    """

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight of a module.

        Args:
            module: the module that has the two parameters.
        """
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return normalized(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int) -> WeightNorm:
        """Hook a module.

        Args:
            module: the module.
            name: the name of its weight.
            dim: the dim along which lengths are kept apart.
        """
        warnings.warn(
            f"`{library}.nn.utils.weight_norm` is deprecated in favor of "
            f"`{library}.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
            stacklevel=2,
        )
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        lengths = norm_except_dim(weight, hook.dim).data
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(lengths))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again.

        Args:
            module: the hooked module.
        """
        weight = self.compute_weight(module)
        delattr(module, self.name)
        for part in ("_g", "_v"):
            del module._parameters[self.name + part]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Compute the weight before `forward`."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Learn the length and the direction of a weight apart; `parametrizations.weight_norm` is the newer form.

    Args:
        module: the module; it is changed and returned.
        name: the name of its weight.
        dim: the dim along which lengths are kept apart; None for one length.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     layer = vistorch.nn.utils.weight_norm(vistorch.nn.Linear(2, 3))
        >>> layer.weight_g.shape, layer.weight_v.shape
        (vistorch.Size([3, 1]), vistorch.Size([3, 2]))
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight an ordinary parameter again.

    Args:
        module: the module; it is changed and returned.
        name: the name of its weight.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     layer = vistorch.nn.utils.weight_norm(vistorch.nn.Linear(2, 3))
        >>> sorted(vistorch.nn.utils.remove_weight_norm(layer).state_dict())
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
