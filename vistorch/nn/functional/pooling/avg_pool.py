"""Means over windows, and norms, which are made of them."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from ....engine.base import errors
from ....engine.base.casting import casting
from ....engine.core.tensor import Tensor
from ....engine.ops.activation.rectify import relu
from ....engine.ops.pool import avg_pool
from ....engine.ops.pool.avg_pool import avg_pool1d
from .max_pool import max_pool1d, max_pool2d, max_pool3d

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
]


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of each window of the last two dims.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        padding: how many zeros stand around.
        ceil_mode: whether a window may reach beyond the end.
        count_include_pad: whether those zeros count as elements.
        divisor_override: what to divide by instead of the number of elements.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.avg_pool2d(vistorch.arange(4.0).reshape(1, 2, 2), 2)
        tensor([[[1.5000]]])
    """
    return avg_pool.avg_pool(
        "avg_pool2d",
        2,
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        out,
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of each window of the last three dims.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        padding: how many zeros stand around.
        ceil_mode: whether a window may reach beyond the end.
        count_include_pad: whether those zeros count as elements.
        divisor_override: what to divide by instead of the number of elements.
        out: where to put the result.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.avg_pool3d(vistorch.arange(8.0).reshape(1, 2, 2, 2), 2)
        tensor([[[[3.5000]]]])
    """
    if casting.on and (recast := casting.ask(avg_pool3d, locals())):
        return recast[0]
    return avg_pool.avg_pool(
        "avg_pool3d",
        3,
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        out,
    )


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of the last dim: the sum of p-th powers, and its p-th root.

    Args:
        input: a tensor (channels, length), with or without a batch dim in front.
        norm_type: p; infinity gives maxima.
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        ceil_mode: whether a window may reach beyond the end.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.lp_pool1d(vistorch.tensor([[3.0, 4.0]]), 2, 2)
        tensor([[5.]])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("lp_pool1d", "input", 1, input)
    if norm_type in (inf, -inf):
        return _extreme(max_pool1d, norm_type, input, kernel_size, stride, ceil_mode)
    means = avg_pool1d(input.pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
    return _root(means, kernel_size, norm_type)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of the last two dims: the sum of p-th powers, and its p-th root.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        norm_type: p; infinity gives maxima.
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        ceil_mode: whether a window may reach beyond the end.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.lp_pool2d(vistorch.tensor([[[3.0, 4.0], [0.0, 0.0]]]), 2, 2)
        tensor([[[5.]]])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("lp_pool2d", "input", 1, input)
    count = prod(_sized(kernel_size, 2))
    if norm_type in (inf, -inf):
        return _extreme(max_pool2d, norm_type, input, kernel_size, stride, ceil_mode)
    means = avg_pool2d(input.pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
    return _root(means, count, norm_type)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of the last three dims: the sum of p-th powers, and its p-th root.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        norm_type: p; infinity gives maxima.
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        ceil_mode: whether a window may reach beyond the end.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.lp_pool3d(vistorch.full((1, 2, 2, 2), 2.0).sqrt(), 2, 2)
        tensor([[[[4.0000]]]])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("lp_pool3d", "input", 1, input)
    count = prod(_sized(kernel_size, 3))
    if norm_type in (inf, -inf):
        return _extreme(max_pool3d, norm_type, input, kernel_size, stride, ceil_mode)
    means = avg_pool3d(input.pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
    return _root(means, count, norm_type)


def _sized(kernel_size: Any, d: int) -> tuple:
    """The sizes of a window; as many as there are dims."""
    found = tuple(kernel_size) if isinstance(kernel_size, (tuple, list, str)) else (kernel_size,) * d
    if len(found) != d:
        many = f"too many values to unpack (expected {d})"
        few = f"not enough values to unpack (expected {d}, got {len(found)})"
        raise ValueError(many if len(found) > d else few)
    for n in found:
        if not isinstance(n, int):
            raise TypeError(
                f"avg_pool{d}d(): argument 'kernel_size' (position 2) must be tuple of ints, not {_kind(n)}"
            )
    return found


def _kind(value: Any) -> str:
    return "NoneType" if value is None else type(value).__name__


def _extreme(pool: Any, norm_type: float, input: Any, kernel: Any, stride: Any, ceil: Any) -> Any:
    if norm_type > 0:
        return pool(input.abs(), kernel, stride, 0, 1, ceil)
    return -pool(-input.abs(), kernel, stride, 0, 1, ceil)


def _root(means: Any, count: Any, norm_type: float) -> Any:
    """Sums of powers, from their means, to norms."""
    return (means.sign() * relu(means.abs())).mul(count).pow(1.0 / norm_type)
