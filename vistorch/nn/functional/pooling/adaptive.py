"""Windows whose number is given."""

from __future__ import annotations

from typing import Any

from ....engine.base.casting import casting
from ....engine.core.tensor import Tensor
from ....engine.ops.pool import adaptive
from ....engine.ops.pool.adaptive import adaptive_avg_pool1d

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
]


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of so many windows of the last two dims, whatever their size.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        output_size: how many windows, one int or two; None leaves a dim as it is.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_avg_pool2d(vistorch.arange(4.0).reshape(1, 2, 2), 1)
        tensor([[[1.5000]]])
    """
    return adaptive.adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of so many windows of the last three dims, whatever their size.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        output_size: how many windows, one int or three; None leaves a dim as it is.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_avg_pool3d(vistorch.arange(8.0).reshape(1, 2, 2, 2), 1)
        tensor([[[[3.5000]]]])
    """
    if casting.on and (recast := casting.ask(adaptive_avg_pool3d, locals())):
        return recast[0]
    return adaptive.adaptive_avg(3, input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of so many windows of the last dim, whatever their size.

    Args:
        input: a tensor (channels, length), with or without a batch dim in front.
        output_size: how many windows.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_max_pool1d(vistorch.arange(2.0).reshape(1, 2), 1)
        tensor([[1.]])
    """
    pair = adaptive.adaptive_max_pool1d(input, output_size)
    return pair if return_indices else pair[0]


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements of so many windows of the last dim, and where they are.

    Args:
        input: a tensor (channels, length), with or without a batch dim in front.
        output_size: how many windows.
        return_indices: accepted; the indices come in any case.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_max_pool1d_with_indices(vistorch.arange(2.0).reshape(1, 2), 1)
        (tensor([[1.]]), tensor([[1]]))
    """
    return adaptive.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of so many windows of the last two dims, whatever their size.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        output_size: how many windows, one int or two; None leaves a dim as it is.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_max_pool2d(vistorch.arange(4.0).reshape(1, 2, 2), 1)
        tensor([[[3.]]])
    """
    return adaptive.adaptive_max(2, input, output_size, bool(return_indices))


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements of so many windows of the last two dims, and where they are.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        output_size: how many windows, one int or two; None leaves a dim as it is.
        return_indices: accepted; the indices come in any case.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_max_pool2d_with_indices(vistorch.arange(4.0).reshape(1, 2, 2), 1)
        (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return adaptive.adaptive_max(2, input, output_size, True)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of so many windows of the last three dims, whatever their size.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        output_size: how many windows, one int or three; None leaves a dim as it is.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_max_pool3d(vistorch.arange(8.0).reshape(1, 2, 2, 2), 1)
        tensor([[[[7.]]]])
    """
    if casting.on and (recast := casting.ask(adaptive_max_pool3d, locals())):
        return recast[0]
    return adaptive.adaptive_max(3, input, output_size, bool(return_indices))


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements of so many windows of the last three dims, and where they are.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        output_size: how many windows, one int or three; None leaves a dim as it is.
        return_indices: accepted; the indices come in any case.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.adaptive_max_pool3d_with_indices(vistorch.arange(8.0).reshape(1, 2, 2, 2), 1)
        (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    if casting.on and (recast := casting.ask(adaptive_max_pool3d_with_indices, locals())):
        return recast[0]
    return adaptive.adaptive_max(3, input, output_size, True)
