"""Sizes of windows as users give them, checked in PyTorch's order and words.

Invariant: what leaves here is tuples of plain ints, one for each of the last dims.
"""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import Any

from ...base import dims, dtypes, errors
from ...core.tensor import Tensor
from .windows import Window

_COUNT = {2: "two", 3: "three"}
_INT32 = 2**31


def ints(value: Any, func: str, name: str, position: int) -> tuple[int, ...]:
    """A tuple or list of ints as a tuple of them."""
    if not isinstance(value, (tuple, list)):
        kind = "NoneType" if value is None else type(value).__name__
        raise TypeError(
            f"{func}(): argument '{name}' (position {position}) must be tuple of ints, not {kind}"
        )
    if all(n.__class__ is int and dims.LEAST <= n <= dims.LARGEST for n in value):
        return tuple(value)
    found = []
    for at, n in enumerate(value):
        try:
            if isinstance(n, bool):
                raise TypeError
            found.append(index(n))
        except TypeError:
            kind = "NoneType" if n is None else type(n).__name__
            said = f"{func}(): argument '{name}' "
            if at == 0:
                said += (
                    f"(position {position}) must be tuple of ints, but found element of type {kind} at pos 0"
                )
            else:
                said += (
                    f"failed to unpack the object at pos {at + 1} with error "
                    f'"type must be tuple of ints,but got {kind}"'
                )
            raise TypeError(said) from None
        if not dims.LEAST <= found[-1] <= dims.LARGEST:
            raise TypeError(
                f"{func}(): argument '{name}' failed to unpack the object at pos {at + 1} with error "
                '"Overflow when unpacking long long"'
            )
    return tuple(found)


def several(value: Any, count: int, func: str, name: str, position: int) -> tuple[int, ...]:
    """An int for all dims, or ints for each; how many there are is not looked at."""
    if value.__class__ is int:
        return (dims.fits(value),) * count
    if not isinstance(value, (tuple, list, bool)):
        try:
            return (dims.fits(index(value)),) * count
        except TypeError:
            pass
    found = ints(value, func, name, position)
    return found * count if len(found) == 1 else found


def tensor(value: Any, func: str, name: str = "input", position: int = 1) -> Any:
    """The array of an argument that must be a Tensor."""
    if not isinstance(value, Tensor):
        raise errors.must_be_tensor(func, name, position, value)
    return value._data


def missing(kernel: str, dtype: Any) -> NotImplementedError:
    """The error for a dtype without a kernel."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(dtype).scalar_name}'")


def one_int(found: tuple, func: str, name: str) -> tuple:
    """Refuse more than one int where there is one dim."""
    if len(found) != 1:
        raise RuntimeError(f"{func}() argument '{name}' should contain one int (got {len(found)})")
    return found


def check_lengths(func: str, d: int, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple) -> None:
    """Refuse too many or too few ints, or ones that 32 bits do not hold."""
    either, numbers = ("", "three") if func == "avg_pool3d" else ("either ", _COUNT[d])
    given = (
        ("kernel_size", kernel, f"must {either}be a single int, or a tuple of {numbers} ints"),
        ("stride", stride, f"must {either}be omitted, a single int, or a tuple of {numbers} ints"),
        ("padding", padding, f"must {either}be a single int, or a tuple of {numbers} ints"),
        ("dilation", dilation, f"must be either a single int, or a tuple of {numbers} ints"),
    )
    for name, sizes, said in given:
        if len(sizes) != d and (name != "stride" or sizes):
            raise RuntimeError(f"{func}: {name} {said}")
        if any(not -_INT32 <= n < _INT32 for n in sizes):
            raise RuntimeError("value cannot be converted to type int without overflow")


def outputs(n: int, size: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """How many windows there are."""
    count = (n + 2 * padding - dilation * (size - 1) - 1 + (stride - 1 if ceil else 0)) // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= n + padding else count


def _output(n: int, size: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    if stride == 0:
        raise RuntimeError("stride should not be zero")
    if padding < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
    if padding > int(((size - 1) * dilation + 1) / 2):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={size} and "
            f"dilation={dilation}"
        )
    return outputs(n, size, stride, padding, dilation, ceil)


def _named(letters: str, prefix: str, values: tuple) -> str:
    return " ".join(f"{prefix}{letter}: {n}" for letter, n in zip(letters, values, strict=True))


@lru_cache(4096)
def windows(
    func: str, shape: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil: bool
) -> tuple[Window, ...]:
    """The windows of a pooling over the last dims, checked as PyTorch does."""
    d, ndim = len(kernel), len(shape)
    stride = stride or kernel
    check_rank(func, d, shape)
    inner = shape[ndim - d :]
    parts = list(zip(inner, kernel, stride, padding, dilation, strict=True))
    counts = tuple([_output(*part, ceil) for part in parts])
    letters = "THW"[3 - d :]
    for what, prefix, values in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(values) <= 0:
            raise RuntimeError(
                f"{what} should be greater than zero, but got {_named(letters, prefix, values)}"
            )
    _check_shape(func, d, shape)
    if func == "avg_pool3d" and any(n < k for n, k, *_ in parts):
        raise RuntimeError(
            f"input image ({_named('THW', '', inner)}) smaller than kernel size ({_named('THW', 'k', kernel)})"
        )
    if min(counts) < 1:
        planes = shape[ndim - d - 1]
        given = "x".join(map(str, (planes, *inner)))
        made = "x".join(map(str, (planes, *counts)))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small"
        )
    return tuple([Window(k, s, p, e, o) for (_, k, s, p, e), o in zip(parts, counts, strict=True)])


def check_rank(func: str, d: int, shape: tuple) -> None:
    """Refuse what has too few or too many dims for images or volumes."""
    ndim = len(shape)
    if func == "avg_pool2d":
        if ndim < 3:
            dims.one(-3, ndim) if ndim else _no_dims()
    elif ndim not in (d + 1, d + 2):
        raise RuntimeError(f"non-empty {d + 1}D or {d + 2}D (batch mode) tensor expected for input")


def _no_dims() -> None:
    raise IndexError("Dimension specified as -3 but tensor has no dimensions")


def _check_shape(func: str, d: int, shape: tuple) -> None:
    """Only the batch may be empty."""
    ndim = len(shape)
    if d == 2:
        if ndim not in (3, 4) or 0 in shape[ndim - 3 :]:
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                f"{errors.sizes(shape)}"
            )
    elif 0 in shape[ndim - 4 :]:
        who = func if func.startswith("avg") else "max_pool3d_with_indices_out_cpu_template"
        raise RuntimeError(
            f"{who}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{errors.sizes(shape)} and non-batch dimension 0 has length zero!"
        )


def two_or_three(func: str, ndim: int) -> None:
    """Refuse what is no signal with channels."""
    if ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {ndim}-dimensional tensor for argument #1 'self' (while checking "
            f"arguments for {func})"
        )
