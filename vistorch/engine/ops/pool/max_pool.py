"""Max pooling: arguments checked, windows made, rows called.

Invariant: one-dimensional pooling that records is two-dimensional pooling of an image of height one, as in PyTorch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...base.casting import casting
from ...base.dims import flag
from ...base.modes import mode
from ...core.graph import sync_rg
from ...core.image_order import laid_as
from ...core.private_order import Private, through
from ...core.registry import public
from ...core.tensor import Tensor
from ..shape import rows
from . import sizes
from .max_pool_rows import MAX, MAX_1D
from .windows import Window


def max_pool(
    name: str,
    d: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: Any,
    indices: bool,
) -> Any:
    """Pool the last two or three dims; with their indices where asked."""
    if input.__class__ is Private:
        return through(max_pool, name, d, input, kernel_size, stride, padding, dilation, ceil_mode, indices)
    step = stride if stride.__class__ is not tuple or stride else None
    if (  # the usual call: everything about it is known from the last time
        kernel_size.__class__ is int
        and (step is None or step.__class__ is int)
        and padding.__class__ is int
        and dilation.__class__ is int
        and (ceil_mode is False or ceil_mode is True)
        and input.__class__ is Tensor
        and input._data.dtype.kind == "f"
    ):
        made = _usual(d, input._data.shape, kernel_size, step, padding, dilation, ceil_mode)
        return laid_as(input, MAX[d][indices](input, made), d == 3)
    a = sizes.tensor(input, name)
    kernel = sizes.several(kernel_size, d, name, "kernel_size", 2)
    step = () if stride is None else sizes.several(stride, d, name, "stride", 3)
    pad = sizes.several(padding, d, name, "padding", 4)
    apart = sizes.several(dilation, d, name, "dilation", 5)
    ceil_mode = flag(ceil_mode, name, "ceil_mode", 6)
    return _pooled(f"max_pool{d}d", d, input, a, (kernel, step, pad, apart), ceil_mode, indices)


@lru_cache(4096)
def _usual(
    d: int, shape: tuple, size: int, stride: int | None, padding: int, dilation: int, ceil: bool
) -> tuple:
    """The windows of a call whose arguments are single ints."""
    given = ((size,) * d, () if stride is None else (stride,) * d, (padding,) * d, (dilation,) * d)
    sizes.check_lengths(f"max_pool{d}d", d, *given)
    return sizes.windows(f"max_pool{d}d", shape, *given, ceil)


def _pooled(name: str, d: int, x: Tensor, a: Any, arguments: tuple, ceil: bool, indices: bool) -> Any:
    sizes.check_lengths(name, d, *arguments)
    made = sizes.windows(name, a.shape, *arguments, ceil)
    if a.dtype.kind in "bc":
        raise sizes.missing(name, a.dtype)
    return laid_as(x, MAX[d][indices](x, made), d == 3)


def _arguments(
    name: str, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> tuple[tuple, tuple, tuple, tuple]:
    kernel = sizes.several(kernel_size, 1, name, "kernel_size", 2)
    step = () if stride is None else sizes.several(stride, 1, name, "stride", 3)
    pad = sizes.several(padding, 1, name, "padding", 4)
    apart = sizes.several(dilation, 1, name, "dilation", 5)
    ceil_mode = flag(ceil_mode, name, "ceil_mode", 6)
    return kernel, step, pad, apart


def _check_1d(
    shape: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil: bool
) -> Window:
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(shape)}"
        )
    for argument, value in (
        ("kernel_size", kernel),
        ("stride", stride),
        ("padding", padding),
        ("dilation", dilation),
    ):
        if len(value) != 1 and (value or argument != "stride"):
            comma = "," if argument in ("stride", "padding") else ""
            none = "None, " if argument == "stride" else ""
            raise RuntimeError(
                f"max_pool1d() {argument} must be {none}an int, list of ints{comma} or tuple of ints of size 1 but got "
                f"size {len(value)}"
            )
    k, p, e = kernel[0], padding[0], dilation[0]
    s = stride[0] if stride else k
    for argument, n in (("kernel_size", k), ("stride", s), ("padding", p), ("dilation", e)):
        if n < (argument != "padding"):
            least = "non-negative" if argument == "padding" else "greater than zero"
            raise RuntimeError(f"max_pool1d() {argument} must be {least}, but got {n}")
    if p > ((k - 1) * e + 1) // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={p} and kernel_size={k}"
        )
    count = sizes.outputs(shape[-1], k, s, p, e, ceil)
    if count < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    return Window(k, s, p, e, count)


def max_pool1d_indexed(
    name: str, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> tuple:
    """Pool the last dim, with indices."""
    a = sizes.tensor(input, name)
    given = _arguments(name, kernel_size, stride, padding, dilation, ceil_mode)
    sizes.two_or_three("max_pool1d", a.ndim)
    for argument, value in zip(("kernel_size", "stride", "padding", "dilation"), given, strict=True):
        if value or argument != "stride":
            sizes.one_int(value, "max_pool1d", argument)
    return _flat(input, given, ceil_mode, True)


def _flat(x: Tensor, given: tuple, ceil: bool, indices: bool) -> Any:
    kernel, step, pad, apart = given
    arguments = ((1, *kernel), (1, *step) if step else (), (0, *pad), (1, *apart))
    if not step:
        arguments = (arguments[0], (1, *kernel), *arguments[2:])
    dim = x._data.ndim - 1
    image = rows.unsqueeze(x, dim)
    result = _pooled("max_pool2d", 2, image, image._data, arguments, ceil, indices)
    if indices:
        return rows.squeeze_dim(result[0], (dim,)), rows.squeeze_dim(result[1], (dim,))
    return rows.squeeze_dim(result, (dim,))


@public(method=False)
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of the last dim.

    Args:
        input: a tensor (channels, length) or (batch, channels, length).
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        padding: how many elements of minus infinity stand at either end.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.

    Example:
        >>> import vistorch
        >>> vistorch.max_pool1d(vistorch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        tensor([[3., 4.]])
    """
    a = sizes.tensor(input, "max_pool1d")
    given = _arguments("max_pool1d", kernel_size, stride, padding, dilation, ceil_mode)
    window = _check_1d(a.shape, *given, ceil_mode)
    if a.dtype.kind in "biuc":
        raise sizes.missing("max_pool1d_impl", a.dtype)
    if mode.on and sync_rg(input):
        return _flat(input, given, ceil_mode, False)
    return MAX_1D(input, (window,))


@public(method=False)
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of the last dim, and where it is.

    Args:
        input: a tensor (channels, length) or (batch, channels, length).
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        padding: how many elements of minus infinity stand at either end.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.

    Example:
        >>> import vistorch
        >>> vistorch.max_pool1d_with_indices(vistorch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    return max_pool1d_indexed(
        "max_pool1d_with_indices", input, kernel_size, stride, padding, dilation, ceil_mode
    )


@public(method=False)
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of the last two dims.

    Args:
        input: a tensor (channels, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or two.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.

    Example:
        >>> import vistorch
        >>> vistorch.max_pool2d(vistorch.arange(16.0).reshape(1, 4, 4), 2)
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
    """
    return max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, False)


@public(method=False)
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of the last three dims.

    Args:
        input: a tensor (channels, depth, height, width), with or without a batch dim in front.
        kernel_size: the size of a window, one int or three.
        stride: how far it is to the next window (default: its size).
        padding: how much minus infinity stands around.
        dilation: how far it is from one element of a window to the next.
        ceil_mode: whether a window may reach beyond the end.

    Example:
        >>> import vistorch
        >>> vistorch.max_pool3d(vistorch.arange(8.0).reshape(1, 2, 2, 2), 2)
        tensor([[[[7.]]]])
    """
    if casting.on and (recast := casting.ask(max_pool3d, locals())):
        return recast[0]
    return max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, False)
