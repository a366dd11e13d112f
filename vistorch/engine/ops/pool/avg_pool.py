"""Average pooling: arguments checked, windows made, rows called."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...base import dims, dtypes
from ...base.dims import flag
from ...core import out_argument
from ...core.image_order import by_rows, laid_as
from ...core.private_order import Private, through
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import FLOATS
from ..shape import rows
from . import sizes
from .avg_pool_rows import AVG

_CPP = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def avg_pool(
    name: str,
    d: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
    out: Any = None,
) -> Tensor:
    """Average over windows of the last two or three dims."""
    if input.__class__ is Private and out is None:
        more = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return through(avg_pool, name, d, input, *more)
    step = stride if stride.__class__ is not tuple or stride else None
    if (  # the usual call: everything about it is known from the last time
        kernel_size.__class__ is int
        and (step is None or step.__class__ is int)
        and padding.__class__ is int
        and (ceil_mode is False or ceil_mode is True)
        and (count_include_pad is False or count_include_pad is True)
        and divisor_override is None
        and out is None
        and input.__class__ is Tensor
        and input._data.dtype in FLOATS
    ):
        made = _usual(d, input._data.shape, kernel_size, step, padding, ceil_mode)
        pooled = AVG[d](input, made, count_include_pad, None)
        return laid_as(input, pooled) if d == 2 else by_rows(pooled)
    a = sizes.tensor(input, name)
    kernel = sizes.several(kernel_size, d, name, "kernel_size", 2)
    step = () if stride is None else sizes.several(stride, d, name, "stride", 3)
    pad = sizes.several(padding, d, name, "padding", 4)
    ceil_mode = flag(ceil_mode, name, "ceil_mode", 5)
    count_include_pad = flag(count_include_pad, name, "count_include_pad", 6)
    if divisor_override is not None:
        divisor_override = dims.whole(divisor_override, name, "divisor_override", 7)
    if out is not None:
        out_argument.check_out(name, out, (input,))
    made = _averaged(d, input, a, (kernel, step, pad), ceil_mode, count_include_pad, divisor_override)
    if out is None:
        return made
    if out._data.dtype != made._data.dtype:
        wanted, given = (_CPP[dtypes.of(t._data.dtype).name] for t in (made, out))
        raise RuntimeError(f"Expected out tensor to have dtype {wanted}, but got {given} instead")
    return out_argument.deliver(out, made)


@lru_cache(4096)
def _usual(d: int, shape: tuple, size: int, stride: int | None, padding: int, ceil: bool) -> tuple:
    """The windows of a call whose arguments are single ints."""
    once = (1,) * d
    given = ((size,) * d, () if stride is None else (stride,) * d, (padding,) * d, once)
    sizes.check_lengths(f"avg_pool{d}d", d, *given)
    return sizes.windows(f"avg_pool{d}d", shape, *given, ceil)


def _averaged(
    d: int, x: Tensor, a: Any, arguments: tuple, ceil: bool, include: bool, override: int | None
) -> Tensor:
    name = f"avg_pool{d}d"
    once = (1,) * d
    kernel, step, pad = arguments
    sizes.check_lengths(name, d, kernel, step, pad, once)
    if d == 3:
        sizes.check_rank(name, d, a.shape)
    if override == 0:
        raise RuntimeError("divisor must be not zero")
    made = sizes.windows(name, a.shape, kernel, step, pad, once, ceil)
    kind, size = a.dtype.kind, a.dtype.itemsize
    if (kind in "biuc" and (kind != "i" or size != 8)) or (d == 3 and size == 2):
        raise sizes.missing(name if d == 2 else "avg_pool3d_out_frame", a.dtype)
    pooled = AVG[d](x, made, include, override)
    return laid_as(x, pooled) if d == 2 else by_rows(pooled)


@public(method=False)
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of the last dim.

    Args:
        input: a tensor (channels, length) or (batch, channels, length).
        kernel_size: how many elements a window has.
        stride: how far it is to the next window (default: its size).
        padding: how many zeros stand at either end.
        ceil_mode: whether a window may reach beyond the end.
        count_include_pad: whether those zeros count as elements.

    Example:
        >>> import vistorch
        >>> vistorch.avg_pool1d(vistorch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
        tensor([[2., 3.]])
    """
    a = sizes.tensor(input, "avg_pool1d")
    kernel = sizes.several(kernel_size, 1, "avg_pool1d", "kernel_size", 2)
    step = () if stride is None else sizes.several(stride, 1, "avg_pool1d", "stride", 3)
    pad = sizes.several(padding, 1, "avg_pool1d", "padding", 4)
    ceil_mode = flag(ceil_mode, "avg_pool1d", "ceil_mode", 5)
    count_include_pad = flag(count_include_pad, "avg_pool1d", "count_include_pad", 6)
    sizes.two_or_three("avg_pool1d", a.ndim)
    for argument, value in (("kernel_size", kernel), ("stride", step), ("padding", pad)):
        if value or argument != "stride":
            sizes.one_int(value, "avg_pool1d", argument)
    image = rows.unsqueeze(input, a.ndim - 1)
    arguments = ((1, *kernel), (1, *(step or kernel)), (0, *pad))
    out = _averaged(2, image, image._data, arguments, ceil_mode, count_include_pad, None)
    return rows.squeeze_dim(out, (a.ndim - 1,))
