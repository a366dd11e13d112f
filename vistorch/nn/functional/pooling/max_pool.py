"""Maxima over windows, and values put back to where they came from."""

from __future__ import annotations

from typing import Any

from ....engine.base import errors
from ....engine.base.casting import casting
from ....engine.core.tensor import Tensor
from ....engine.ops.pool import max_pool, unpool
from ....engine.ops.shape import rows

__all__ = [
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of the last dim.

    Args:
        input: a tensor (channels, length), with or without a batch dim in front.
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_pool1d(vistorch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        tensor([[3., 4.]])
    """
    if return_indices:
        return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool.max_pool1d(
        input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode
    )


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of the last dim, and where it is.

    Args:
        input: a tensor (channels, length), with or without a batch dim in front.
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.
        return_indices: accepted; the indices come in any case.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_pool1d_with_indices(vistorch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    if stride is None:
        stride = ()
    return max_pool.max_pool1d_indexed(
        "max_pool1d_with_indices", input, kernel_size, stride, padding, dilation, ceil_mode
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of the last two dims.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_pool2d(vistorch.arange(4.0).reshape(1, 2, 2), 2)
        tensor([[[3.]]])
    """
    name = "max_pool2d_with_indices" if return_indices else "max_pool2d"
    return max_pool.max_pool(
        name, 2, input, kernel_size, stride, padding, dilation, ceil_mode, bool(return_indices)
    )


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of the last two dims, and where it is.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.
        return_indices: accepted; the indices come in any case.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_pool2d_with_indices(vistorch.arange(4.0).reshape(1, 2, 2), 2)
        (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return max_pool.max_pool(
        "max_pool2d_with_indices", 2, input, kernel_size, stride, padding, dilation, ceil_mode, True
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of the last three dims.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.
        return_indices: return where the elements are, too.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_pool3d(vistorch.arange(8.0).reshape(1, 2, 2, 2), 2)
        tensor([[[[7.]]]])
    """
    if casting.on and (recast := casting.ask(max_pool3d, locals())):
        return recast[0]
    name = "max_pool3d_with_indices" if return_indices else "max_pool3d"
    return max_pool.max_pool(
        name, 3, input, kernel_size, stride, padding, dilation, ceil_mode, bool(return_indices)
    )


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of the last three dims, and where it is.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.
        return_indices: accepted; the indices come in any case.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_pool3d_with_indices(vistorch.arange(8.0).reshape(1, 2, 2, 2), 2)
        (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return max_pool.max_pool(
        "max_pool3d_with_indices", 3, input, kernel_size, stride, padding, dilation, ceil_mode, True
    )


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Zeros with values where the maxima of `max_pool1d` were.

    Args:
        input: the values.
        indices: where they belong, from `max_pool1d(..., return_indices=True)`.
        kernel_size: the size of the windows.
        stride: how far it was to the next window (default: its size).
        padding: how much stood at either end.
        output_size: the length of the result, where several would fit.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_unpool1d(vistorch.tensor([[3.0, 4.0]]), vistorch.tensor([[1, 3]]), 2)
        tensor([[0., 3., 0., 4.]])
    """
    if casting.on and (recast := casting.ask(max_unpool1d, locals())):
        return recast[0]
    kernel, step, pad = _windows(1, kernel_size, stride, padding)
    made = _unpooled_size(_checked(input, "max_unpool1d"), kernel, step, pad, output_size)
    if not isinstance(indices, Tensor):
        raise errors.must_be_tensor("max_unpool1d", "indices", 2, indices)
    values, places = (rows.unsqueeze(t, t._data.ndim) for t in (input, indices))
    return rows.squeeze_dim(unpool.unpool(2, values, places, (*made, 1)), (input._data.ndim,))


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Zeros with values where the maxima of `max_pool2d` were.

    Args:
        input: the values.
        indices: where they belong, from `max_pool2d(..., return_indices=True)`.
        kernel_size: the size of the windows, one int or two.
        stride: how far it was to the next window (default: its size).
        padding: how much stood around.
        output_size: the height and width of the result, where several would fit.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_unpool2d(vistorch.tensor([[[5.0]]]), vistorch.tensor([[[2]]]), 2)
        tensor([[[0., 0.],
                 [5., 0.]]])
    """
    if casting.on and (recast := casting.ask(max_unpool2d, locals())):
        return recast[0]
    kernel, step, pad = _windows(2, kernel_size, stride, padding)
    made = _unpooled_size(_checked(input, "max_unpool2d"), kernel, step, pad, output_size)
    return unpool.unpool(2, input, indices, made)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Zeros with values where the maxima of `max_pool3d` were.

    Args:
        input: the values.
        indices: where they belong, from `max_pool3d(..., return_indices=True)`.
        kernel_size: the size of the windows, one int or three.
        stride: how far it was to the next window (default: its size).
        padding: how much stood around.
        output_size: the last three sizes of the result, where several would fit.

    Example:
        >>> import vistorch
        >>> import vistorch.nn.functional as F
        >>> F.max_unpool3d(vistorch.tensor([[[[5.0]]]]), vistorch.tensor([[[[7]]]]), 2)
        tensor([[[[0., 0.],
                  [0., 0.]],
        <BLANKLINE>
                 [[0., 0.],
                  [0., 5.]]]])
    """
    if casting.on and (recast := casting.ask(max_unpool3d, locals())):
        return recast[0]
    kernel, step, pad = _windows(3, kernel_size, stride, padding)
    made = _unpooled_size(_checked(input, "max_unpool3d"), kernel, step, pad, output_size)
    return unpool.unpool(3, input, indices, made, step, pad)


def _windows(d: int, kernel: Any, stride: Any, padding: Any) -> list[tuple]:
    given = (kernel, kernel if stride is None else stride, padding)
    return [tuple(v) if isinstance(v, (tuple, list, str)) else (v,) * d for v in given]


def _checked(input: Any, name: str) -> Tensor:
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(name, "input", 1, input)
    return input


def _unpooled_size(input: Tensor, kernel: tuple, stride: tuple, padding: tuple, output_size: Any) -> tuple:
    """The last sizes of what was pooled: as given where that is possible, else the smallest."""
    shape, d = input._data.shape, len(kernel)
    if len(shape) < d:
        raise IndexError("tuple index out of range")
    for name, value in (("kernel_size", kernel), ("stride", stride), ("padding", padding)):
        for n in value:
            if not isinstance(n, (int, float, Tensor)):
                raise TypeError(
                    f"max_unpool{d}d(): argument '{name}' must be tuple of ints, not {type(n).__name__}"
                )
    if min(len(stride), len(padding)) < d:
        raise IndexError("tuple index out of range")
    usual = [(shape[i - d] - 1) * stride[i] + kernel[i] - 2 * padding[i] for i in range(d)]
    made = tuple(usual)
    if output_size is not None:
        made = output_size
        if len(made) == d + 2:
            made = made[2:]
        if len(made) != d:
            raise ValueError(
                f"output_size should be a sequence containing {d} or {d + 2} elements, but it has a length of "
                f"'{len(made)}'"
            )
        for i in range(d):
            low, high = usual[i] - stride[i], usual[i] + stride[i]
            if not low < made[i] < high:
                raise ValueError(f'invalid output_size "{made}" (dim {i} must be between {low} and {high})')
    for i in range(d):
        if made[i] < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{i}]={made[i]}"
            )
    return tuple(made)
