"""What a convolution is given, checked in PyTorch's order and refused in its words.

Invariant: every check runs before anything is computed; what leaves here are plain ints in tuples.
"""

from __future__ import annotations

import functools
from typing import Any

from ...base import dims, dtypes, errors, type_names
from ...core.tensor import Tensor
from ...core.type_promotion import HALVES
from ..elementwise.dtype_checks import C_NAMES


def numbers(value: Any, count: int, func: str, name: str, position: int) -> tuple[int, ...]:
    """One int for all spatial dims, or a tuple or list of them."""
    if value.__class__ is int:
        return (dims.fits(value),) * count
    if not isinstance(value, (tuple, list)):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            kind = "NoneType" if value is None else type(value).__name__
            raise TypeError(
                f"{func}(): argument '{name}' (position {position}) must be tuple of ints, not {kind}"
            )
        return (dims.whole(value, func, name, position),) * count
    return dims.sizes((tuple(value),), func, name, position)


def tensors(func: str, input: Any, weight: Any, bias: Any) -> None:
    """Refuse arguments that are no Tensors."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(func, "input", 1, input)
    if not isinstance(weight, Tensor):
        raise errors.must_be_tensor(func, "weight", 2, weight)
    if bias is not None and not isinstance(bias, Tensor):
        raise errors.must_be_tensor(func, "bias", 3, bias)


def batched(func: str, rank: int, ndim: int, shape: tuple) -> bool:
    """Whether there is a dim of images."""
    if ndim == rank + 2:
        return True
    if ndim == rank + 1:
        return False
    raise RuntimeError(
        f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {func}, but got input of size: "
        f"{errors.sizes(shape)}"
    )


def expanded(value: tuple, rank: int, name: str) -> tuple:
    """One number for each spatial dim; a single one counts for all."""
    if len(value) == rank:
        return value
    if len(value) == 1:
        return value * rank
    raise RuntimeError(
        f"expected {name} to be a single integer value or a list of {rank} values to match the convolution dimensions, "
        f"but got {name}={errors.sizes(value)}"
    )


def _times(shape: Any) -> str:
    return "(" + " x ".join(map(str, shape)) + ")"


@functools.lru_cache(512)
def checked(
    x: tuple,
    w: tuple,
    bias: tuple | None,
    stride: tuple,
    padding: tuple,
    dilation: tuple,
    transposed: bool,
    output_padding: tuple,
    groups: int,
) -> tuple:
    """The geometry of a convolution of shapes `x` and `w`: stride, padding, dilation, a transposed one's result."""
    rank = len(w) - 2
    if rank <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    stride, padding = expanded(stride, rank, "stride"), expanded(padding, rank, "padding")
    dilation, output_padding = (
        expanded(dilation, rank, "dilation"),
        expanded(output_padding, rank, "output_padding"),
    )
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) < 0:
        raise RuntimeError("dilation should be greater than zero")
    _channels(x, w, bias, transposed, groups)
    if not transposed:
        padded = [n + 2 * p for n, p in zip(x[2:], padding, strict=True)]
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, w[2:], strict=True)]
        if any(k > n for k, n in zip(reach, padded, strict=True)):
            raise RuntimeError(
                f"Calculated padded input size per channel: {_times(padded)}. Kernel size: {_times(reach)}. Kernel "
                "size can't be greater than actual input size"
            )
        _check_dilation(dilation)
        _check_empty(x, w)
        return stride, padding, dilation, ()
    _check_dilation(dilation)
    _check_empty(x, w)
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            + " ".join(
                [
                    named("output_padding", output_padding),
                    named("stride", stride),
                    named("dilation", dilation),
                ]
            )
        )
    size = tuple(
        [
            (n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, s, p, d, k, o in zip(x[2:], stride, padding, dilation, w[2:], output_padding, strict=True)
        ]
    )
    if min(size) < 1:
        lead = (1,) if rank == 1 else ()
        raise RuntimeError(
            f"Given input size per channel: {_times((*lead, *x[2:]))}. Calculated output size per channel: "
            f"{_times((*lead, *size))}. Output size is too small"
        )
    return stride, padding, dilation, size


def named(name: str, values: tuple) -> str:
    """Numbers with the names of their dims: "stride_height: 1 stride_width: 1"."""
    if len(values) == 1:
        values = (0 if name == "output_padding" else 1, *values)
    labels = ("depth", "height", "width")[-len(values) :] if len(values) < 4 else range(len(values))
    return " ".join([f"{name}_{label}: {value}" for label, value in zip(labels, values, strict=True)])


def _channels(x: tuple, w: tuple, bias: tuple | None, transposed: bool, groups: int) -> None:
    """Refuse channels and biases that do not fit."""
    shape = errors.sizes(w)
    if len(x) != len(w):
        raise RuntimeError(
            f"Expected {len(w)}-dimensional input for {len(w)}-dimensional weight {shape}, but got "
            f"{len(x)}-dimensional input of size {errors.sizes(x)} instead"
        )
    if w[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{shape} instead"
        )
    if w[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{shape}] instead"
        )
    start = "Given transposed=1, weight" if transposed else f"Given groups={groups}, weight"
    wanted, given = (w[0] if transposed else w[1] * groups), x[1]
    if given != wanted:
        raise RuntimeError(
            f"{start} of size {shape}, expected input{errors.sizes(x)} to have {wanted} channels, but got {given} "
            "channels instead"
        )
    filters = w[1] * groups if transposed else w[0]
    if bias is not None and bias != (filters,):
        start = "Given transposed=1, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{start} of size {shape}, expected bias to be 1-dimensional with {filters} elements, but got bias of size "
            f"{errors.sizes(bias)} instead"
        )


def _check_dilation(dilation: tuple) -> None:
    if min(dilation) == 0:
        raise RuntimeError("non-positive dilation is not supported")


def _check_empty(x: tuple, w: tuple) -> None:
    """Refuse what has no elements, unless there are no images or no channels."""
    if 0 in x[2:] and x[0] and x[1]:
        x = x if len(x) > 3 else (*x[:2], 1, *x[2:])
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {errors.sizes(x)}"
        )
    if 0 in w[2:]:
        raise RuntimeError(f"kernel size should be greater than zero, but got {named('kernel', w[2:])}")


def _kind(t: Tensor) -> str:
    """A tensor's type: PyTorch has two ways to spell it."""
    d = dtypes.of(t._data.dtype)
    if d.scalar_name in ("BFloat16", "ComplexFloat", "ComplexDouble", "Bool"):
        return f"CPU{d.scalar_name}Type"
    return type_names.type_name(d, t._place.device.type)


def _has_kernel(a: Any, name: str, transposed: bool, dilation: tuple) -> None:
    """Refuse types that PyTorch has no kernel for."""
    rank = len(dilation)
    kernel = None
    if transposed:
        kernel = None if a.str == "<i8" else f"slow_conv_transpose{max(rank, 2)}d_out_cpu"
    elif max(dilation) > 1:
        kernel = None if a.str == "<i8" else "slow_conv_dilated<>"
    elif a.kind == "b":
        kernel = "slow_conv2d_cpu" if rank < 3 else "compute_columns3d"
    if kernel is not None:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


def types(input: Tensor, weight: Tensor, bias: Any, transposed: bool, dilation: tuple) -> None:
    """Refuse tensors of different types, and types that PyTorch has no kernel for."""
    a, w = input._data.dtype, weight._data.dtype
    names = [dtypes.of(t._data.dtype).scalar_name for t in (input, weight)]
    whole = a.kind in "biu" and a not in HALVES
    if whole and transposed:
        _has_kernel(a, names[0], transposed, dilation)
    if bias is not None and bias._data.dtype != a:
        spelled = [C_NAMES[str(t.dtype).rpartition(".")[2]] for t in (input, bias)]
        raise RuntimeError(f"Input type ({spelled[0]}) and bias type ({spelled[1]}) should be the same")
    if a.kind == "c" and a != w:
        raise RuntimeError(
            f"Input type ({_kind(input)}) and weight type ({_kind(weight)}) should be the same"
        )
    if whole:
        _has_kernel(a, names[0], transposed, dilation)
    if a != w:
        if a in HALVES or a.char == "f":
            raise RuntimeError(
                f"Input type ({_kind(input)}) and weight type ({_kind(weight)}) should be the same or input should be "
                "a MKLDNN tensor and weight is a dense tensor"
            )
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
