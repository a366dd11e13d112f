"""softmax and the like: numbers as shares of a whole.

Invariant: a call that names no dim is warned about, at the caller's line.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...engine.base import errors
from ...engine.base.casting import casting
from ...engine.base.layout import contiguous_format
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.activation.soft import log_softmax_of, softmax_of

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]

empty_like, zeros_like = FUNCTIONS["empty_like"], FUNCTIONS["zeros_like"]


def _chosen_dim(name: str, input: Tensor, stacklevel: int) -> int:
    """The dim older versions took where none was named."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
    return 0 if input.ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Turn numbers into shares that add up to 1: exp(x) over the sum of exp(x) along a dim.

    Args:
        input: a tensor.
        dim: the dim along which shares add up.
        _stacklevel: where the warning about a missing dim points.
        dtype: the type to compute in, where not the input's own.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.softmax(vistorch.tensor([0.0, 0.0, 0.0, 0.0]), dim=0)
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    if casting.on and (recast := casting.ask(softmax, locals())):
        return recast[0]
    if dim is None and isinstance(input, Tensor):
        dim = _chosen_dim("softmax", input, _stacklevel)
    return softmax_of(input, dim, dtype, 1)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of softmax, without overflow.

    Args:
        input: a tensor.
        dim: the dim along which the shares add up.
        _stacklevel: where the warning about a missing dim points.
        dtype: the type to compute in, where not the input's own.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.log_softmax(vistorch.tensor([0.0, 0.0]), dim=0)
        tensor([-0.6931, -0.6931])
    """
    if casting.on and (recast := casting.ask(log_softmax, locals())):
        return recast[0]
    if dim is None and isinstance(input, Tensor):
        dim = _chosen_dim("log_softmax", input, _stacklevel)
    return log_softmax_of(input, dim, dtype, 1)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Take softmax of `-input`.

    Args:
        input: a tensor.
        dim: the dim along which shares add up.
        _stacklevel: where the warning about a missing dim points.
        dtype: the type to compute in, where not the input's own.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.softmin(vistorch.tensor([0.0, 0.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    if casting.on and (recast := casting.ask(softmin, locals())):
        return recast[0]
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("softmin", "input", 1, input)
    if dim is None:
        dim = _chosen_dim("softmin", input, _stacklevel)
    return softmax_of(-input, dim, dtype, 1)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random choice that gradients flow through: softmax of `logits` plus Gumbel noise.

    Args:
        logits: logarithms of weights, not normalised.
        tau: the temperature: the lower, the closer to one-hot.
        hard: return a one-hot tensor, whose gradient is that of the soft one.
        eps: does nothing, as in PyTorch.
        dim: the dim along which is chosen.

    Example:
        >>> import vistorch
        >>> y = vistorch.nn.functional.gumbel_softmax(vistorch.zeros(2, 5), hard=True)
        >>> y.sum(1)
        tensor([1., 1.])
    """
    if not isinstance(logits, Tensor):
        raise errors.must_be_tensor("empty_like", "input", 1, logits)
    blank = empty_like(logits, memory_format=contiguous_format)
    noise = -blank.exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    chosen = zeros_like(logits, memory_format=contiguous_format).scatter_(dim, index, 1.0)
    return chosen - soft.detach() + soft
